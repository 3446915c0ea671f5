/* “Try it” on the form of a test: asks models and judges about the form as it is now. The server
   streams events as lines of JSON. Nothing here changes the form without a way to undo it. */

(() => {
  "use strict";

  const { element, button, readEvents, request, whenReady } = window.evalhubEditing;
  const KEPT = "evalhub-try-";
  const TAKEN = "The reference counts as yours now; save the test to keep it.";

  /* The fields of the test's form, with the mark of a reference that a model wrote. */
  class Fields {
    constructor(form) {
      this.form = form;
      this.marked = element("p", { class: "eh-muted try-mark", role: "status" });
      this.field("reference").after(this.marked);
      this.field("reference").addEventListener("input", () => {
        if (!this.writes && this.field("reference_by").value === "model") this.takeReference();
      });
      this.field("reference_by").addEventListener("change", () => this.mark());
      this.mark();
    }

    field(name) {
      return this.form.elements[name];
    }

    write(name, value) {
      this.writes = true;
      this.field(name).value = value;
      for (const type of ["input", "change"]) this.field(name).dispatchEvent(new Event(type, { bubbles: true }));
      this.writes = false;
    }

    takeReference() {
      this.write("reference_by", "human");
      this.mark();
    }

    mark() {
      const by = this.field("reference_by").value;
      this.marked.hidden = by !== "model" || !this.field("reference").value.trim();
      if (this.marked.hidden) return;
      const take = button("Take as mine", () => {
        this.takeReference();
        this.marked.replaceChildren(TAKEN);
        this.marked.hidden = false;
      });
      this.marked.replaceChildren(
        "Written by a model, and nobody has taken it yet. It counts as yours once you edit it, or: ",
        take,
      );
    }
  }

  class Playground {
    constructor(root, fields) {
      this.root = root;
      this.fields = fields;
      this.own = root.querySelector("[data-try-form]");
      this.reply = root.querySelector("[data-try-reply]");
      this.judged = root.querySelector("[data-try-judged]");
      this.said = [...root.querySelectorAll("[data-try-said]")];
      this.stopper = root.querySelector("[data-try-stop]");
      this.answer = null;
      this.remember();
      this.own.addEventListener("submit", (event) => {
        event.preventDefault();
        this.start((event.submitter || this.own.querySelector("[data-try-act]")).dataset.tryAct);
      });
      this.stopper.addEventListener("click", () => this.stop());
      root.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && this.running) this.stop();
      });
    }

    /* The last choices of this browser. */
    remember() {
      for (const name of ["try-model", "try-jury"]) {
        const choice = this.own.elements[name];
        const known = localStorage.getItem(KEPT + name);
        if ([...choice.options].some((option) => option.value === known)) choice.value = known;
        choice.addEventListener("change", () => localStorage.setItem(KEPT + name, choice.value));
      }
      const show = () => {
        const single = this.own.elements["try-jury"].value.startsWith("model-");
        this.root.querySelector("[data-try-template]").hidden = !single;
        if (!single) this.own.elements["try-template"].value = "";
      };
      this.own.elements["try-jury"].addEventListener("change", show);
      show();
    }

    /* Words about judging stand above the judgments, others above the reply. */
    say(...words) {
      this.said[this.act === "judge" ? 1 : 0].replaceChildren(...words);
    }

    note(...words) {
      this.said[0].replaceChildren(...words);
    }

    /* Asking ---------------------------------------------------------------------------------- */

    body(act, consent) {
      const body = new FormData(this.fields.form);
      for (const [name, value] of new FormData(this.own)) body.append(name, value);
      body.set("try-act", act);
      body.set("try-test", this.root.dataset.tryTest);
      body.set("try-consent", consent);
      if (act === "judge" && this.answer) body.set("try-reply", JSON.stringify(this.answer));
      return body;
    }

    async start(act, consent = "") {
      if (this.running) return;
      const body = this.body(act, consent);
      this.running = new AbortController();
      this.act = act;
      this.settled = false;
      this.notes = [];
      this.busy(true);
      this.say(act === "judge" ? "Judging …" : "Waiting for the model …");
      if (act === "judge") this.judged.replaceChildren();
      else this.reply.replaceChildren();
      if (act === "ask") this.answer = null;
      if (act === "draft") this.turn("Draft of the reference");
      try {
        const options = { type: "application/x-ndjson", signal: this.running.signal };
        await readEvents(await request(this.root.dataset.try, body, options), (event) => this.take(event));
      } catch ({ name, message }) {
        this.fail(name === "AbortError" ? "Stopped." : message);
      }
      this.running = null;
      this.busy(false);
      if (!this.settled) this.say(this.notes.join(" "));
    }

    stop() {
      this.running.abort();
    }

    fail(words) {
      this.settled = true;
      this.say(words, " ", button("Try again", () => this.start(this.act)));
    }

    busy(is) {
      this.root.setAttribute("aria-busy", String(is));
      this.own.querySelectorAll("[data-try-act]").forEach((each) => each.toggleAttribute("disabled", is));
      const held = this.root.contains(document.activeElement) || document.activeElement === document.body;
      this.stopper.hidden = !is;
      if (held) (is ? this.stopper : this.own.querySelector(`[data-try-act="${this.act}"]`)).focus();
    }

    take(event) {
      if (event.turn) this.turn(event.turn > 1 ? `Turn ${event.turn}` : "Reply");
      if (event.text) this.shown.textContent += event.text;
      if (event.reply) this.replied(event.reply);
      if (event.reference) this.drafted(event.reference);
      if (event.judging) this.say(event.judging);
      if (event.html) this.judged.insertAdjacentHTML("beforeend", event.html);
      if (event.summary) this.notes.push(event.summary);
      if (event.cost && !this.settled) this.notes.push(`${event.cost}.`);
      if (event.error) this.fail(event.error);
      if (event.consent) this.consent(event);
    }

    consent({ consent, words }) {
      const act = this.act;
      this.settled = true;
      this.say(words, " ", button("Send it and log the exposure", () => this.start(act, consent)));
    }

    turn(title) {
      this.shown = element("pre", { class: "eh-pre", dir: "auto", tabindex: "0", "aria-label": title });
      this.box = element("div", { class: "try-turn" }, element("strong", {}, title), this.shown);
      this.reply.append(this.box);
    }

    replied(answer) {
      this.answer = answer;
      this.own.querySelector('[data-try-act="ask"]').textContent = "Ask again";
      this.reply.querySelectorAll(".try-turn").forEach((box) => {
        const text = box.querySelector("pre").textContent;
        if (!text.trim()) return;
        const use = button("Use as flagged answer", () => this.put("flagged_answer", text));
        box.append(element("div", { class: "eh-toolbar eh-after" }, use));
      });
      this.notes.push("The reply is complete.");
    }

    /* The form -------------------------------------------------------------------------------- */

    put(name, text) {
      const before = this.fields.field(name).value;
      this.fields.write(name, text);
      this.note(
        "It is in the field “Flagged answer” on the tab “Judging” now; save the test to keep it. ",
        this.undo(name, text, () => this.fields.write(name, before)),
      );
    }

    /* A button that puts back what was there, unless the field has been edited since. */
    undo(name, written, restore) {
      return button("Undo", () => {
        const isKept = this.fields.field(name).value === written;
        if (isKept) restore();
        this.note(isKept ? "Undone." : "The field was edited since, so it stays as it is.");
      });
    }

    drafted(text) {
      const before = [this.fields.field("reference").value, this.fields.field("reference_by").value];
      this.fields.write("reference", text);
      this.fields.write("reference_by", "model");
      this.fields.mark();
      this.settled = true;
      this.note(
        "The draft is in the field “Reference answer” on the tab “Judging” now. It counts as written by a model until you edit it, or take it as yours. ",
        button("Take as mine", () => this.takeReference()),
        " ",
        this.undo("reference", text, () => {
          this.fields.write("reference", before[0]);
          this.fields.write("reference_by", before[1]);
          this.fields.mark();
        }),
      );
    }

    takeReference() {
      this.fields.takeReference();
      this.note(TAKEN);
    }
  }

  whenReady(() => {
    const root = document.querySelector("[data-try]");
    const form = document.getElementById("test_form");
    if (!root || !form) return;
    const fields = new Fields(form);
    let isHeld = false;
    root.addEventListener("htmx:beforeSwap", () => {
      isHeld = root.contains(document.activeElement);
    });
    root.addEventListener("htmx:afterSwap", () => {
      const own = root.querySelector("[data-try-form]");
      if (own) new Playground(root, fields);
      // Who came to it by keys before it was there goes on from its first field.
      if (isHeld) own?.elements[0].focus();
    });
  });
})();
