/* The editor of a test's rubric, over the list of forms that works without it.

   Points are added, moved (by dragging, buttons or keys), deleted and restored; nothing is sent
   before the test is saved, except for the preview, which updates as you type. */

(() => {
  "use strict";

  const { element, request, whenReady } = window.evalhubEditing;
  const PREFIX = "criteria";
  const WAIT = 400;

  const json = (id) => JSON.parse(document.getElementById(id).textContent);

  const field = (row, name) => row.querySelector(`[name$="-${name}"]`);

  const typed = (argument, value) => {
    if (argument.kind === "lines") return value.join("\n");
    if (argument.kind === "json") return JSON.stringify(value);
    return String(value);
  };

  class Rubric {
    constructor(root) {
      this.root = root;
      this.form = root.closest("form");
      this.list = root.querySelector("[data-eh-points]");
      this.blank = root.querySelector("[data-eh-blank]");
      this.total = root.querySelector(`[name="${PREFIX}-TOTAL_FORMS"]`);
      this.panel = root.querySelector("[data-eh-preview]");
      this.dialog = root.querySelector("[data-eh-library]");
      this.checks = json("eh-checks");
      this.asked = "";
      this.approach = "";
      root.classList.add("eh-live");
      this.trim();
      this.rows().forEach((row) => this.explain(row));
      this.listen();
      this.show();
      this.preview();
    }

    rows() {
      return [...this.list.querySelectorAll("[data-eh-point]")];
    }

    kept() {
      return this.rows().filter((row) => !this.isGone(row));
    }

    isGone(row) {
      return field(row, "DELETE").checked;
    }

    isFilled(row) {
      return Boolean(field(row, "text").value.trim() || field(row, "check_name").value);
    }

    /* The empty forms at the end are for pages without a script. */
    trim() {
      const rows = this.rows();
      while (rows.length) {
        const last = rows.pop();
        if (last.dataset.ehSaved || this.isFilled(last) || last.querySelector("[role=alert]")) break;
        last.remove();
        this.total.value = Number(this.total.value) - 1;
      }
    }

    listen() {
      this.root.addEventListener("click", (event) => {
        const button = event.target.closest("[data-eh-act]");
        if (button) this.act(button.dataset.ehAct, button);
      });
      this.list.addEventListener("keydown", (event) => this.key(event));
      this.list.addEventListener("change", (event) => {
        if (event.target.matches("[data-eh-check]")) this.choose(event.target);
      });
      this.list.addEventListener("focusin", (event) => this.ask(event.target));
      this.form.addEventListener("input", (event) => this.typed(event));
      this.form.addEventListener("change", (event) => this.typed(event));
      this.drag();
    }

    act(name, button) {
      const row = button.closest("[data-eh-point]");
      if (name === "add") this.focus(this.add());
      if (name === "up" || name === "down") this.move(row, name === "up" ? -1 : 1, button);
      if (name === "delete") this.remove(row);
      if (name === "undo") this.restore(row);
      if (name === "paste") this.paste(button);
      if (name === "library") this.browse();
      if (name === "close") this.dialog.close();
      if (name === "take") this.take(button);
    }

    key(event) {
      const row = event.target.closest("[data-eh-point]");
      if (!row || !event.altKey || event.target.matches("select")) return;
      if (event.key === "ArrowUp" || event.key === "ArrowDown") {
        event.preventDefault();
        this.move(row, event.key === "ArrowUp" ? -1 : 1, event.target);
      } else if (event.key === "Enter") {
        event.preventDefault();
        this.focus(this.add({}, row));
      }
    }

    /* Rows ------------------------------------------------------------------------------------ */

    add(values = {}, after = null) {
      const number = Number(this.total.value);
      const holder = element("div");
      holder.innerHTML = this.blank.innerHTML.replaceAll("__prefix__", String(number));
      const row = holder.querySelector("[data-eh-point]");
      this.total.value = number + 1;
      if (after) after.after(row);
      else this.list.append(row);
      field(row, "text").value = values.text || "";
      if (values.polarity) field(row, "polarity").value = values.polarity;
      if (values.library_key) {
        field(row, "library_key").value = values.library_key;
        field(row, "library_version").value = values.library_version;
      }
      if (values.check) {
        field(row, "check_name").value = values.check;
        this.build(row, values.arguments || {});
      }
      this.explain(row);
      this.changed();
      return row;
    }

    focus(row) {
      field(row, "text").focus();
      row.scrollIntoView({ block: "nearest" });
    }

    move(row, by, focused) {
      const rows = this.kept();
      const other = rows[rows.indexOf(row) + by];
      if (!other) return;
      if (by < 0) other.before(row);
      else other.after(row);
      focused.focus();
      row.scrollIntoView({ block: "nearest" });
      this.changed();
      const places = this.kept();
      this.say(`Moved to place ${places.indexOf(row) + 1} of ${places.length}.`);
    }

    remove(row) {
      field(row, "DELETE").checked = true;
      row.classList.add("eh-point--gone");
      const text = field(row, "text").value.trim() || "This criterion";
      const when = row.dataset.ehSaved ? "will be deleted when you save." : "is removed.";
      row.querySelector("[data-eh-gone]").textContent = `“${text.slice(0, 80)}” ${when}`;
      row.querySelector("[data-eh-act=undo]").focus();
      this.changed();
    }

    restore(row) {
      field(row, "DELETE").checked = false;
      row.classList.remove("eh-point--gone");
      this.focus(row);
      this.changed();
    }

    /* Number the places once something moves; until then, stored ones stay. */
    changed() {
      this.kept().forEach((row, at) => {
        field(row, "order").value = at + 1;
      });
      // From a field, as what the browser sends: pages listen for those of their forms' fields.
      this.total.dispatchEvent(new Event("input", { bubbles: true }));
      this.total.dispatchEvent(new Event("change", { bubbles: true }));
    }

    drag() {
      let dragged = null;
      this.list.addEventListener("pointerdown", (event) => {
        const grip = event.target.closest("[data-eh-grip]");
        if (grip) grip.closest("[data-eh-point]").draggable = true;
      });
      this.list.addEventListener("dragstart", (event) => {
        dragged = event.target.closest("[data-eh-point]");
        dragged.classList.add("eh-point--dragged");
        event.dataTransfer.effectAllowed = "move";
        event.dataTransfer.setData("text/plain", "");
      });
      this.list.addEventListener("dragover", (event) => {
        if (!dragged) return;
        event.preventDefault();
        const over = event.target.closest("[data-eh-point]");
        if (!over || over === dragged) return;
        const box = over.getBoundingClientRect();
        if (event.clientY < box.top + box.height / 2) over.before(dragged);
        else over.after(dragged);
      });
      this.list.addEventListener("drop", (event) => event.preventDefault());
      this.list.addEventListener("dragend", () => {
        if (!dragged) return;
        dragged.classList.remove("eh-point--dragged");
        dragged.draggable = false;
        dragged = null;
        this.changed();
      });
    }

    /* Checks ---------------------------------------------------------------------------------- */

    choose(select) {
      const row = select.closest("[data-eh-point]");
      this.build(row);
      this.explain(row);
    }

    /* Build the fields of the chosen check, keeping input for fields of the same name. */
    build(row, values = null) {
      const before = row.ehTyped || {};
      row.querySelectorAll("[data-eh-argument] [name]").forEach((input) => {
        const name = input.name.split("-arg_").pop();
        before[name] = input.type === "checkbox" ? input.checked : input.value;
      });
      row.ehTyped = before;
      const check = this.checks[field(row, "check_name").value];
      const prefix = field(row, "check_name").name.replace(/check_name$/, "");
      const made = (check ? check.arguments : []).map((argument) => {
        const given = values && argument.name in values;
        const value = given ? typed(argument, values[argument.name]) : before[argument.name];
        return this.drawn(argument, `${prefix}arg_${argument.name}`, value);
      });
      row.querySelector("[data-eh-arguments]").replaceChildren(...made);
    }

    drawn(argument, name, value) {
      const label = element("label", {
        class: "eh-point-field eh-point-argument",
        "data-eh-argument": name,
      });
      label.append(element("span", {}, argument.title), this.input(argument, name, value));
      if (argument.kind === "yes_no") label.title = argument.help;
      else if (argument.help) label.append(element("small", { class: "eh-muted" }, argument.help));
      return label;
    }

    input(argument, name, value) {
      const id = `id_${name}`;
      if (argument.kind === "yes_no") {
        const box = element("input", { type: "checkbox", name, id });
        box.checked = value === true || value === "true";
        return box;
      }
      const text = value === undefined || typeof value === "boolean" ? "" : value;
      if (["text", "lines", "json"].includes(argument.kind)) {
        const rows = argument.kind === "text" ? 1 : 2;
        const area = element("textarea", { name, id, rows, class: "eh-input eh-grows" });
        area.value = text;
        return area;
      }
      const shown = argument.default === null ? "" : String(argument.default);
      const line = element("input", { type: "text", name, id, size: 8, class: "eh-input", placeholder: shown });
      line.value = text;
      return line;
    }

    explain(row) {
      const check = this.checks[field(row, "check_name").value];
      const says = row.querySelector("[data-eh-says]");
      says.textContent = check ? `${check.description} ${check.reason}`.trim() : "";
      row.classList.toggle("eh-point--unrunnable", Boolean(check && check.reason));
    }

    /* Paste ----------------------------------------------------------------------------------- */

    async paste(button) {
      const area = this.root.querySelector("[data-eh-pasted]");
      button.disabled = true;
      try {
        const { points } = await (await request(this.root.dataset.lines, { lines: area.value })).json();
        points.forEach((point) => this.add(point));
        if (points.length) area.value = "";
        const unwanted = points.filter((point) => point.polarity === "should_not").length;
        this.say(points.length ? `${points.length} criteria added, ${unwanted} of them “should not”.` : "Nothing to add.");
      } catch {
        this.say("The criteria could not be added now. Saving adds them.");
      } finally {
        button.disabled = false;
      }
    }

    /* The library is searched on the server, as you type. */
    browse() {
      const search = this.dialog.querySelector("[data-eh-search]");
      this.dialog.showModal();
      search.focus();
      search.dispatchEvent(new Event("search"));
    }

    take(button) {
      this.add(JSON.parse(button.dataset.ehCriterion));
      button.textContent = "Added";
      button.addEventListener("blur", () => (button.textContent = "Add"), { once: true });
    }

    /* Preview ----------------------------------------------------------------------------------- */

    say(text) {
      this.root.querySelector("[data-eh-said]").textContent = text;
    }

    show() {
      let place = 0;
      const rows = this.kept();
      rows.forEach((row, at) => {
        row.querySelector("[data-eh-place]").textContent = this.isFilled(row) ? String(++place) : "–";
        row.querySelector("[data-eh-act=up]").disabled = at === 0;
        row.querySelector("[data-eh-act=down]").disabled = at === rows.length - 1;
        const isFault = field(row, "polarity").value === "should_not";
        row.classList.toggle("eh-point--fault", isFault);
        row.classList.toggle("eh-point--alternative", field(row, "alternative").value !== "");
        [...field(row, "alternative").options].forEach((option) => {
          if (option.value) option.textContent = `alternative ${option.value} to ${isFault ? "fail" : "succeed"}`;
        });
      });
      this.root.querySelector("[data-eh-empty]").hidden = this.rows().length > 0;
    }

    ask(target) {
      const row = target.closest("[data-eh-point]");
      const place = row ? row.querySelector("[data-eh-place]").textContent : "";
      if (!/^\d+$/.test(place) || place === this.asked) return;
      this.asked = place;
      if (this.isOpen()) this.later();
    }

    isOpen() {
      const details = this.panel.querySelector("details");
      return Boolean(details && details.open);
    }

    typed(event) {
      if (event.target.name === "preview-asked") this.asked = event.target.value;
      if (event.target.name === "preview-approach") this.approach = event.target.value;
      this.show();
      this.later();
    }

    later() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.preview(), WAIT);
    }

    async preview() {
      this.asking?.abort();
      this.asking = new AbortController();
      const sent = new FormData(this.form);
      sent.set("preview-asked", this.asked);
      sent.set("preview-approach", this.approach);
      try {
        const options = { type: "text/html", signal: this.asking.signal };
        const text = await (await request(this.root.dataset.preview, sent, options)).text();
        const open = this.isOpen();
        const focused = this.panel.contains(document.activeElement) && document.activeElement.name;
        this.panel.innerHTML = text;
        const details = this.panel.querySelector("details");
        if (details) details.open = open;
        if (focused) this.panel.querySelector(`[name="${focused}"]`)?.focus();
      } catch (error) {
        if (error.name === "AbortError") return;
        this.panel.textContent = "The preview is not available now.";
      }
    }
  }

  const start = () => {
    const root = document.querySelector("[data-eh-rubric]");
    if (root) new Rubric(root);
  };

  whenReady(start);
})();
