/* The workbench: saves each edit, judges rows while one waits, and works by keyboard.

   The server says what is judged, stale and counted; nothing is kept in the browser. */

(() => {
  "use strict";

  const { button, readEvents, request, whenReady } = window.evalhubEditing;
  const WAIT = 500;

  class Workbench {
    constructor(root) {
      this.root = root;
      this.form = root.querySelector("#wb-settings");
      this.rows = root.querySelector("[data-wb-rows]");
      this.said = root.querySelector("[data-wb-said]");
      this.foot = root.querySelector("[data-wb-foot]");
      this.pairs = root.querySelector("[data-wb-pairs]");
      this.stopper = root.querySelector("[data-wb-act=stop]");
      this.saving = Promise.resolve();
      this.current = null;
      this.sent = this.settings();
      this.showJury();
      this.listen();
    }

    listen() {
      for (const type of ["input", "change"])
        this.root.addEventListener(type, ({ target }) => target.form === this.form && this.settingsLater());
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.form.querySelector("[data-wb-take]").addEventListener("change", (event) => this.take(event.target));
      this.rows.addEventListener("change", (event) => this.changed(event.target));
      this.rows.addEventListener("focusin", (event) => this.mark(event.target.closest("[data-wb-row]")));
      this.root.addEventListener("click", (event) => {
        const pressed = event.target.closest("[data-wb-act]");
        if (pressed) this.act(pressed.dataset.wbAct, pressed.closest("[data-wb-row]"));
      });
      document.addEventListener("keydown", (event) => this.key(event));
    }

    say(...words) {
      this.said.replaceChildren(...words);
    }

    /* Send something after what was sent before, so that nothing overtakes an edit. */
    send(address, fields) {
      const post = async () => {
        try {
          return await (await request(address, fields)).json();
        } catch ({ message }) {
          this.say(message);
          return { problems: null };
        }
      };
      this.saving = this.saving.then(post);
      return this.saving;
    }

    /* Show what the server says. */
    show(event, row = null) {
      if (event.problems) this.say(event.problems.join(" "));
      if (event.added) {
        this.rows.insertAdjacentHTML("beforeend", event.added);
        row = this.rows.lastElementChild;
        row.querySelector("textarea")?.focus();
      }
      for (const [pk, { html, version }] of Object.entries(event.rows || {})) this.judged(pk, html, version);
      for (const pk of event.gone || []) this.row(pk)?.remove();
      if (event.foot !== undefined) this.foot.innerHTML = event.foot;
      if (event.role) {
        this.form.elements.role.value = event.role;
        this.settingsLater();
      }
      if (event.pairs !== undefined) this.comparisons(event.pairs);
      this.root.querySelector("[data-wb-empty]").hidden = this.rows.children.length > 0;
      return row;
    }

    /* Show the pairs, keeping what is open; the panel hides while no two rows answer one input. */
    comparisons(html) {
      const open = [...this.pairs.querySelectorAll("details")].map((each) => each.open);
      this.pairs.innerHTML = html;
      this.pairs.querySelectorAll("details").forEach((each, at) => (each.open = Boolean(open[at])));
      this.pairs.closest("section").hidden = !html;
    }

    row(pk) {
      return this.rows.querySelector(`[data-wb-row="${pk}"]`);
    }

    /* Replace a row's judgments, keeping focus and what is open. */
    judged(pk, html, version) {
      const row = this.row(pk);
      if (!row) return;
      row.dataset.version = version;
      const box = row.querySelector("[data-wb-judged]");
      const held = box.contains(document.activeElement) && document.activeElement.closest("[data-key]");
      const open = [...box.querySelectorAll("details")].map((each) => each.open);
      box.innerHTML = html;
      box.querySelectorAll("details").forEach((each, at) => (each.open = Boolean(open[at])));
      if (held) box.querySelector(`[data-key="${CSS.escape(held.dataset.key)}"] select`)?.focus();
    }

    /* Settings -------------------------------------------------------------------------------- */

    settings() {
      return new URLSearchParams(new FormData(this.form)).toString();
    }

    settingsLater() {
      this.showJury();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.saveSettings(), WAIT);
    }

    showJury() {
      const has = this.form.elements.jury.value !== "";
      this.root.querySelector("[data-wb-models]").hidden = has;
      this.root.querySelector("[data-wb-jury]").hidden = !has;
    }

    async saveSettings() {
      clearTimeout(this.timer);
      const now = this.settings();
      if (now === this.sent) return true;
      const event = await this.send(this.root.dataset.settings, new FormData(this.form));
      const box = this.root.querySelector("[data-wb-problems]");
      box.hidden = !event.problems;
      box.textContent = (event.problems || []).join(" ");
      if (event.problems !== undefined) return false;
      this.sent = now;
      this.show(event);
      this.follow(event);
      return true;
    }

    /* Take keys of new criteria and the options to aim at into the form; a new prompt needs a new
       page, but not while one types. */
    follow({ keys, labels, reload }) {
      const kept = [...this.form.querySelectorAll("[data-eh-point]:not(.eh-point--gone)")];
      const filled = kept.filter((each) => each.querySelector("[name$=-text]").value.trim() || each.querySelector("[name$=-check_name]").value);
      if (filled.length === keys.length) filled.forEach((each, at) => (each.querySelector("[name$=-key]").value = keys[at]));
      const blank = this.form.querySelector("[data-eh-blank]").content;
      for (const choice of [...this.form.querySelectorAll("[name$=-target]"), ...blank.querySelectorAll("[name$=-target]")]) {
        const chosen = choice.value;
        choice.replaceChildren(choice.options[0], ...labels.map((label) => new Option(label, label)));
        choice.value = labels.includes(chosen) ? chosen : "";
      }
      this.sent = this.settings();
      if (!reload) return;
      const isTyping = this.form.contains(document.activeElement) && window.evalhub.isTyping(document.activeElement);
      if (!isTyping) window.location.reload();
      else this.form.addEventListener("focusout", () => this.saveSettings().then(() => window.location.reload()), { once: true });
    }

    async take(choice) {
      if (!choice.value) return;
      clearTimeout(this.timer);
      const event = await this.send(this.root.dataset.settings, { take: choice.value });
      this.show(event);
      if (event.reload) window.location.reload();
    }

    /* Rows ------------------------------------------------------------------------------------ */

    mark(row) {
      if (!row || row === this.current) return;
      this.current?.removeAttribute("aria-current");
      this.current = row;
      row.setAttribute("aria-current", "true");
    }

    async changed(field) {
      const row = field.closest("[data-wb-row]");
      if (field.matches("[data-wb-expect]")) await this.expect(row, field);
      if (field.matches("[data-wb-field]")) await this.saveRow(row, field);
    }

    async expect(row, field) {
      const key = field.closest("[data-key]").dataset.key;
      this.show(await this.post(row, "expect", { key, option: field.value }));
    }

    async saveRow(row, field) {
      const fields = { [field.dataset.wbField]: field.value };
      const post = () => this.post(row, "save", { ...fields, version: row.dataset.version });
      // The version is read when it is this edit's turn.
      await this.saving;
      this.show(await post());
    }

    post(row, act, more = {}) {
      return this.send(this.root.dataset.row, { act, row: row?.dataset.wbRow || "", ...more });
    }

    async act(name, row) {
      if (row) this.mark(row);
      if (name === "add") this.show(await this.post(null, "add"));
      if (name === "duplicate") this.show(await this.post(row, "duplicate"));
      if (name === "delete") this.remove(row);
      if (name === "example" || name === "row") {
        const event = await this.post(row, name);
        this.show(event);
        if (event.problems === undefined) window.location.reload();
      }
      if (name === "judge") this.evaluate([row]);
      if (name === "evaluate") this.evaluate([]);
      if (name === "compare" || name === "role") this.evaluate([], "", name);
      if (name === "stop") this.running?.abort();
    }

    remove(row) {
      const yes = button("Delete it", async () => {
        const next = row.nextElementSibling || row.previousElementSibling;
        const event = await this.post(row, "delete");
        this.show(event);
        if (event.problems !== undefined) return;
        this.say("Deleted.");
        next?.focus();
      });
      this.say(`Delete row ${row.getAttribute("aria-label").replace("Row ", "")} with its judgments? `, yes, " ", button("Keep it", () => this.say("")));
      yes.focus();
    }

    /* Judging --------------------------------------------------------------------------------- */

    async evaluate(rows, consent = "", act = "") {
      if (this.running) return;
      if (document.activeElement?.matches("[data-wb-field]")) document.activeElement.blur();
      this.running = new AbortController();
      this.busy(true);
      this.say(act === "role" ? "Writing a role …" : "Judging …");
      let last = "";
      const notes = [];
      const take = (event) => {
        this.show(event);
        if (event.progress) this.say((last = event.progress));
        if (event.cost) notes.push(`${event.cost}.`);
        if (event.error) notes.push(event.error);
        if (event.consent) notes.push(event.words, " ", button("Send it and log the exposure", () => this.evaluate(rows, event.consent, act)));
      };
      try {
        if (!(await this.saveSettings())) throw new Error("Fix the settings first.");
        await this.saving;
        const fields = [["consent", consent], ["act", act], ...rows.map((row) => ["row", row.dataset.wbRow])];
        const options = { type: "application/x-ndjson", signal: this.running.signal };
        await readEvents(await request(this.root.dataset.evaluate, fields, options), take);
        this.say(...[last && !last.endsWith(".") ? `${last}. ` : last && `${last} `, ...notes].filter(Boolean));
      } catch (error) {
        const stopped = "Stopped. What was judged is kept; evaluate again for the rest.";
        this.say(error.name === "AbortError" ? stopped : error.message);
      }
      this.running = null;
      this.busy(false);
    }

    busy(is) {
      this.root.setAttribute("aria-busy", String(is));
      this.root.querySelectorAll("[data-wb-act=evaluate], [data-wb-act=judge], [data-wb-act=compare], [data-wb-act=role]").forEach((each) => each.toggleAttribute("disabled", is));
      if (this.stopper) this.stopper.hidden = !is;
    }

    /* Keys ------------------------------------------------------------------------------------ */

    key(event) {
      if (event.key === "Escape") {
        if (this.running) this.running.abort();
        else if (document.activeElement?.matches("[data-wb-field]")) document.activeElement.closest("[data-wb-row]").focus();
        return;
      }
      if (this.root.hasAttribute("data-keys-off")) return;
      const isChoice = event.target.matches?.("[data-wb-expect]");
      if (!isChoice && !window.evalhub.isPageKey(event)) return;
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("a, button, summary")) {
        if (event.key === "Enter" || event.ctrlKey || event.metaKey || event.altKey) return;
      }
      if (this.press(event.key, event.target)) event.preventDefault();
    }

    press(key, target) {
      const row = this.current;
      if (/^[1-9]$/.test(key) && row) return this.choose(row, Number(key), target);
      if (key === "Enter" || key === "j") return this.move(1);
      if (key === "k") return this.move(-1);
      if (key === "r" && row?.querySelector("[data-wb-act=judge]")) this.evaluate([row]);
      else if (key === "R" && this.stopper) this.evaluate([]);
      else if (key === "x" && row) this.act(row.querySelector("[data-wb-act=row]") ? "row" : "example", row);
      else return false;
      return true;
    }

    /* Set the n-th option of the focused criterion, else of the first one without an expectation. */
    choose(row, n, target) {
      const all = [...row.querySelectorAll("[data-wb-expect]")];
      const field = all.find((each) => each.closest("[data-key]").contains(target)) || all.find((each) => !each.value) || all[0];
      if (!field || n >= field.options.length) return false;
      field.selectedIndex = n;
      this.expect(row, field);
      return true;
    }

    move(by) {
      const all = [...this.rows.children];
      const next = all[all.indexOf(this.current) + by] || (this.current ? null : all[0]);
      if (!next) return false;
      next.focus();
      this.mark(next);
      next.scrollIntoView({ block: "nearest" });
      return true;
    }
  }

  whenReady(() => {
    const root = document.getElementById("workbench");
    if (!root?.dataset.settings) return;
    new Workbench(root);
  });
})();
