/* The editor of a test's messages, on top of a JSON field that works without it.

   A single prompt has two text areas, a raw prompt one; a conversation has turns with a role and a text, generated
   ones for assistants. Unknown content (such as tool calls) is kept. */

(() => {
  "use strict";

  const { element, button, complain, whenReady } = window.evalhubEditing;
  const ROLES = ["system", "user", "assistant", "tool"];

  const rowOf = (field) =>
    field.closest(".field-row, .form-row, [class*='field-']") || field.parentElement;

  const parsed = (text) => {
    if (!text.trim()) return [];
    try {
      const value = JSON.parse(text);
      const whole = Array.isArray(value) && value.every((turn) => turn && typeof turn === "object");
      return whole ? value : null;
    } catch {
      return null;
    }
  };

  class Editor {
    constructor(area) {
      this.area = area;
      this.list = element("div", { class: "eh-turns" });
      this.source = button("Edit as JSON", () => this.toggleSource());
      this.add = button("Add turn", () => this.append());
      this.bar = element("div", { class: "eh-toolbar eh-after" }, this.add, this.source);
      area.before(this.list);
      area.after(this.bar);
      this.showsSource = false;
      this.read();
    }

    read() {
      const turns = parsed(this.area.value);
      this.turns = turns === null ? [] : turns;
      if (turns === null) this.showsSource = true;
      this.draw();
    }

    write() {
      this.area.value = this.turns.length ? JSON.stringify(this.turns, null, 2) : "";
      this.area.dispatchEvent(new Event("input", { bubbles: true }));
    }

    replace(turns) {
      this.turns = turns;
      this.write();
      this.draw();
    }

    toggleSource() {
      if (this.showsSource && parsed(this.area.value) === null) {
        complain(this.area, "Not a JSON list of turns. Correct the JSON first.");
        return;
      }
      this.showsSource = !this.showsSource;
      this.read();
    }

    append() {
      const last = this.turns[this.turns.length - 1];
      const role = last && last.role === "user" ? "assistant" : "user";
      this.replace([...this.turns, { role, content: role === "assistant" ? null : "" }]);
      const areas = this.list.querySelectorAll("textarea");
      areas[areas.length - 1].focus();
    }

    move(from, to) {
      const turns = [...this.turns];
      const [turn] = turns.splice(from, 1);
      turns.splice(to, 0, turn);
      this.replace(turns);
    }

    draw() {
      this.list.replaceChildren(...this.turns.map((turn, at) => this.drawn(turn, at)));
      this.list.toggleAttribute("data-eh-hidden", this.showsSource);
      this.add.toggleAttribute("data-eh-hidden", this.showsSource);
      this.area.toggleAttribute("data-eh-hidden", !this.showsSource);
      this.source.textContent = this.showsSource ? "Edit as turns" : "Edit as JSON";
    }

    drawn(turn, at) {
      const roles = ROLES.map((role) =>
        element("option", { value: role, selected: role === turn.role }, role),
      );
      const role = element("select", { class: "eh-input", "aria-label": `Role of turn ${at + 1}` }, ...roles);
      const text = element("textarea", { class: "eh-input", "aria-label": `Text of turn ${at + 1}` });
      const speaks = turn.role === "assistant" && !turn.tool_calls;
      const generated = speaks && (turn.content === null || turn.content === undefined);
      text.value = typeof turn.content === "string" ? turn.content : "";
      text.disabled = generated;
      text.placeholder = generated ? "The model generates this turn." : "";
      const box = element("input", { type: "checkbox", checked: generated });
      const choice = element("label", {}, box, "Generate this turn");
      choice.toggleAttribute("data-eh-hidden", !speaks);

      role.addEventListener("change", () => {
        const content = role.value === "assistant" ? turn.content : turn.content || "";
        this.turns[at] = { ...turn, role: role.value, content };
        this.replace(this.turns);
      });
      box.addEventListener("change", () => {
        this.turns[at] = { ...turn, content: box.checked ? null : text.value };
        this.replace(this.turns);
      });
      text.addEventListener("input", () => {
        turn.content = text.value;
        this.write();
      });
      const last = this.turns.length - 1;
      return element(
        "div",
        { class: "eh-turn" },
        element(
          "div",
          { class: "eh-toolbar" },
          element("span", { class: "eh-muted" }, `${at + 1}`),
          role,
          choice,
          button("↑", () => this.move(at, at - 1), { disabled: at === 0, "aria-label": `Move turn ${at + 1} up` }),
          button("↓", () => this.move(at, at + 1), { disabled: at === last, "aria-label": `Move turn ${at + 1} down` }),
          button("Remove", () => this.replace(this.turns.filter((_, other) => other !== at)), {
            "aria-label": `Remove turn ${at + 1}`,
          }),
        ),
        text,
      );
    }
  }

  const start = () => {
    const area = document.querySelector("textarea[data-eh-messages]");
    const kinds = [...document.querySelectorAll("input[name='kind']")];
    if (!area || !kinds.length) return;
    const system = document.getElementById("id_system_prompt");
    const prompt = document.getElementById("id_prompt");
    const editor = new Editor(area);

    const takeOver = () => {
      if (editor.turns.length || !(prompt.value || system.value)) return;
      const first = system.value ? [{ role: "system", content: system.value }] : [];
      editor.replace([...first, { role: "user", content: prompt.value }]);
    };
    const show = () => {
      const { value } = kinds.find((kind) => kind.checked) ?? kinds[0];
      const isTurns = value === "turns";
      const hasSystem = value === "single" || (value === "raw" && system.value.trim());
      rowOf(system).toggleAttribute("data-eh-hidden", !hasSystem);
      rowOf(prompt).toggleAttribute("data-eh-hidden", isTurns);
      rowOf(area).toggleAttribute("data-eh-hidden", !isTurns);
      if (isTurns) takeOver();
    };
    kinds.forEach((kind) => kind.addEventListener("change", show));
    show();
  };

  whenReady(start);
})();
