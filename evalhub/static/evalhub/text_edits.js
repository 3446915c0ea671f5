/* Edits of selected text by a model, in any textarea with data-eh-edits and in those of the form of
   a test: Alt A opens the menu, Alt U undoes the last edit.

   data-eh-edits-of names the text, such as "draft 7 answer"; data-eh-test is the number of the test
   that it is of; data-eh-feedback selects the elements that hold a judge's feedback on it. */

(() => {
  "use strict";

  const { element, button } = window.evalhubEditing;
  const EDITABLE = "textarea[data-eh-edits], #test_form textarea";
  const FEEDBACK = "[data-try-judged] li";
  const KEPT = "evalhub-edit-model";
  const NEED_WORDS = { feedback: "The judge’s feedback", own: "Your instruction" };
  const url = `${location.pathname.split("/admin/")[0]}/admin/issues/test/edit/`;
  const page = crypto.getRandomValues(new Uint32Array(2)).join("-");

  const key = (label) => element("kbd", { class: "eh-key" }, label);
  const request = (fields) =>
    window.evalhubEditing.request(url, fields).then((response) => response.json()).catch(({ message }) => ({ error: message }));

  /* What a text is of, as the server and its log name it. */
  const about = (area) => {
    const test = area.dataset.ehTest ?? /\/issues\/test\/(\d+)\/change\//.exec(location.pathname)?.[1] ?? "";
    const name = area.dataset.ehEditsOf ?? `${test ? `test ${test}` : `new ${page}`} ${area.name || area.id}`;
    const draft = /^draft (\d+)/.exec(name)?.[1] ?? "";
    const sealed = document.querySelector("input#id_sealed:checked") ? "1" : "";
    return { field: name.slice(0, 120), test, draft, sealed };
  };

  const write = (area, text, start, end) => {
    area.focus();
    area.setRangeText(text, start, end, "select");
    for (const type of ["input", "change"]) area.dispatchEvent(new Event(type, { bubbles: true }));
  };

  class Editor {
    constructor(area) {
      this.area = area;
      [this.start, this.end] = [area.selectionStart, area.selectionEnd];
      if (this.start === this.end) [this.start, this.end] = [0, area.value.length];
      this.body = element("div", { class: "ed-body" });
      this.said = element("p", { role: "status", "aria-live": "polite" });
      this.dialog = element("dialog", { class: "eh-dialog ed-dialog", "aria-labelledby": "ed-title" });
      this.dialog.append(element("h2", { id: "ed-title" }, "Change the selected text"), this.body, this.said);
      this.dialog.addEventListener("cancel", (event) => {
        event.preventDefault();
        this.reject();
      });
      this.dialog.addEventListener("keydown", (event) => this.pressed(event));
      (area.closest("dialog") ?? document.body).append(this.dialog);
      this.dialog.showModal();
      this.menu();
    }

    say(...words) {
      this.said.replaceChildren(...words);
    }

    close() {
      this.dialog.close();
      this.dialog.remove();
      this.area.focus();
      this.area.setSelectionRange(this.area.selectionStart, this.area.selectionEnd);
    }

    async menu() {
      this.say("…");
      const found = await request();
      if (found.error) return this.say(found.error);
      if (!found.models.length) return this.say("There is no active model to ask.");
      this.model = element("select", { class: "eh-input", "aria-label": "Model" });
      for (const { pk, name } of found.models) this.model.append(element("option", { value: pk }, name));
      const known = localStorage.getItem(KEPT);
      if (found.models.some(({ pk }) => String(pk) === known)) this.model.value = known;
      this.model.addEventListener("change", () => localStorage.setItem(KEPT, this.model.value));
      this.words = element("textarea", { class: "eh-input", rows: 3, hidden: true });
      const actions = found.actions.map(({ name, label }, at) =>
        button("", () => this.choose(name), { "data-ed-action": name, "data-ed-key": at + 1 }),
      );
      actions.forEach((each, at) => each.append(found.actions[at].label, " ", key(at + 1)));
      const undo = button("Undo last edit ", () => this.undo(), { "data-ed-key": "u" });
      undo.append(key("u"));
      this.quote = element("blockquote", { class: "ed-quote", dir: "auto" }, this.area.value.slice(this.start, this.end));
      this.result = element("div", { class: "ed-result" });
      this.actions = element("div", { class: "ed-actions", role: "group", "aria-label": "Action" }, ...actions, undo);
      this.body.append(this.quote, this.model, this.actions, this.words, this.result);
      this.say();
      actions[0].focus();
    }

    choose(action) {
      this.action = action;
      if (!(action in NEED_WORDS)) return this.ask();
      const places = document.querySelectorAll(this.area.dataset.ehFeedback ?? FEEDBACK);
      const feedback = [...places].map((each) => each.textContent.trim()).join("\n");
      this.words.value = action === "feedback" ? feedback : "";
      this.words.placeholder = NEED_WORDS[action];
      this.words.setAttribute("aria-label", NEED_WORDS[action]);
      this.words.hidden = false;
      this.words.focus();
      return this.say(`${NEED_WORDS[action]}, then Enter.`);
    }

    async ask(consent = "") {
      if (this.busy) return;
      this.busy = true;
      this.say("Waiting for the model …");
      const { start, end, action } = this;
      const text = this.area.value;
      const sent = { act: "propose", text, start, end, action, consent, model: this.model.value };
      const found = await request({ ...sent, ...about(this.area), words: this.words.value });
      this.busy = false;
      if (!this.dialog.open) return;
      if (found.consent) {
        const yes = button("Send it and log the exposure", () => this.ask(found.consent));
        this.say(found.words, " ", yes);
        yes.focus();
      } else if (found.error) this.say(found.error);
      else this.show(found);
    }

    show(found) {
      this.proposal = found;
      this.actions.hidden = this.words.hidden = this.model.hidden = this.quote.hidden = true;
      this.result.innerHTML = found.html;
      const accept = button("Accept ", () => this.accept(), { class: "eh-button eh-button--primary" });
      accept.append(key("Enter"));
      const reject = button("Reject ", () => this.reject());
      reject.append(key("Esc"));
      this.result.append(element("div", { class: "eh-toolbar" }, accept, reject));
      this.say();
      accept.focus();
    }

    async accept() {
      const { edit, after } = this.proposal;
      const found = await request({ act: "accept", edit });
      if (found.error) return this.say(found.error);
      this.close();
      return write(this.area, after, this.start, this.end);
    }

    reject() {
      if (this.proposal) request({ act: "reject", edit: this.proposal.edit });
      this.close();
    }

    async undo() {
      const problem = await undoLast(this.area);
      if (problem) this.say(problem);
      else this.close();
    }

    pressed(event) {
      event.stopPropagation();
      if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.target === this.words) {
        if (event.key === "Enter" && !event.shiftKey) {
          event.preventDefault();
          this.ask();
        }
        return;
      }
      const wanted = this.actions?.hidden === false && this.actions.querySelector(`[data-ed-key="${CSS.escape(event.key)}"]`);
      if (wanted) {
        event.preventDefault();
        wanted.click();
      }
    }
  }

  /* Undo the last accepted edit of a text; return why not, or "". */
  const undoLast = async (area) => {
    const found = await request({ act: "undo", text: area.value, ...about(area) });
    if (!found.error) write(area, found.before, found.start, found.end);
    return found.error ?? "";
  };

  document.addEventListener("focusin", ({ target }) => {
    if (!target.matches(EDITABLE)) return;
    target.setAttribute("aria-keyshortcuts", "Alt+A");
    target.title = "Alt A: have a model change the selected text. Alt U: undo that.";
  });
  document.addEventListener("keydown", async (event) => {
    const area = event.target;
    if (!event.altKey || event.ctrlKey || event.metaKey || !area.matches?.(EDITABLE)) return;
    const pressed = event.code.replace("Key", "").toLowerCase();
    if (pressed === "a" && area.value.trim()) {
      event.preventDefault();
      new Editor(area);
    } else if (pressed === "u") {
      event.preventDefault();
      area.title = await undoLast(area);
    }
  });
})();
