/* The editor of a test's messages, on top of a JSON field that works without it.

   A single prompt has two text areas, a raw prompt one; a conversation has turns with a role and a text, generated
   ones for assistants, and images for users. Unknown content (such as tool calls) is kept. */

(() => {
  "use strict";

  const { element, button, complain, whenReady } = window.evalhubEditing;
  const ROLES = ["system", "user", "assistant", "tool"];

  const KINDS = "image/png,image/jpeg,image/webp,image/gif";

  const isText = (part) => part.type === "text";

  /* The parts of a content to edit: always with a text. */
  const partsOf = (content) => {
    const parts = Array.isArray(content) ? content : [{ type: "text", text: content ?? "" }];
    return parts.some(isText) ? parts : [{ type: "text", text: "" }, ...parts];
  };

  const contentOf = (parts) => {
    if (parts.every(isText) && parts.length === 1) return parts[0].text;
    const said = parts.filter((part) => !isText(part) || part.text);
    return said.length ? said : "";
  };

  const dataUrl = (file) =>
    new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.addEventListener("load", () => resolve(reader.result));
      reader.addEventListener("error", () => reject(reader.error));
      reader.readAsDataURL(file);
    });

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

    /* Upload image files and append them to a turn. */
    async attach(at, files) {
      const token = this.area.form.querySelector("[name=csrfmiddlewaretoken]").value;
      const added = [];
      let problem = "";
      for (const file of files) {
        try {
          const response = await fetch(this.area.dataset.ehImages, {
            method: "POST",
            headers: { "Content-Type": "application/json", "X-CSRFToken": token },
            body: JSON.stringify({ image_url: await dataUrl(file) }),
          });
          const reply = await response.json();
          if (response.ok) added.push({ type: "image", image: reply.image, alt: "" });
          else problem = reply.problems.map((one) => one.message).join(" ") || reply.detail;
        } catch {
          problem = "the upload failed. Check the connection, and that the file is not too large.";
        }
        if (problem) problem = `${file.name}: ${problem}`;
      }
      const content = contentOf([...partsOf(this.turns[at].content), ...added]);
      this.turns[at] = { ...this.turns[at], content };
      this.replace(this.turns);
      const turn = this.list.children[at];
      if (problem) turn.append(element("p", { class: "eh-callout eh-callout--error", role: "alert" }, problem));
      else [...turn.querySelectorAll("[data-alt]")].pop()?.focus();
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
      const speaks = turn.role === "assistant" && !turn.tool_calls;
      const generated = speaks && (turn.content === null || turn.content === undefined);
      const parts = partsOf(turn.content);
      const edit = (n, change) => {
        parts[n] = { ...parts[n], ...change };
        turn.content = contentOf(parts);
        this.write();
      };
      const shown = parts.map((part, n) => {
        if (part.type === "image") return this.picture(at, parts, n, edit);
        if (!isText(part)) return element("code", {}, JSON.stringify(part));
        const nth = parts.slice(0, n).filter(isText).length;
        const label = nth ? `Text ${nth + 1} of turn ${at + 1}` : `Text of turn ${at + 1}`;
        const text = element("textarea", { class: "eh-input", "aria-label": label });
        text.value = part.text;
        text.disabled = generated;
        text.placeholder = generated ? "The model generates this turn." : "";
        text.addEventListener("input", () => edit(n, { text: text.value }));
        return text;
      });
      const box = element("input", { type: "checkbox", checked: generated });
      const choice = element("label", {}, box, "Generate this turn");
      choice.toggleAttribute("data-eh-hidden", !speaks);

      role.addEventListener("change", () => {
        const content = role.value === "assistant" ? turn.content : turn.content || "";
        this.turns[at] = { ...turn, role: role.value, content };
        this.replace(this.turns);
      });
      box.addEventListener("change", () => {
        this.turns[at] = { ...turn, content: box.checked ? null : contentOf(parts) };
        this.replace(this.turns);
      });
      const last = this.turns.length - 1;
      const drawn = element(
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
        ...shown,
      );
      if (turn.role === "user") this.takeImages(drawn, at);
      return drawn;
    }

    /* Let images be chosen, pasted and dropped. */
    takeImages(drawn, at) {
      // Never on the page, where the admin theme expects its own field around each file input.
      const file = element("input", { type: "file", accept: KINDS, multiple: true });
      file.addEventListener("change", () => this.attach(at, [...file.files]));
      const add = button("Add image", () => file.click(), { title: "Or paste or drop one" });
      drawn.append(element("div", { class: "eh-toolbar eh-after" }, add));
      const take = (event, transfer) => {
        const images = [...(transfer?.files ?? [])].filter((one) => one.type.startsWith("image/"));
        if (!images.length) return;
        event.preventDefault();
        this.attach(at, images);
      };
      drawn.addEventListener("paste", (event) => take(event, event.clipboardData));
      drawn.addEventListener("drop", (event) => take(event, event.dataTransfer));
      drawn.addEventListener("dragover", (event) => {
        if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
      });
    }

    picture(at, parts, n, edit) {
      const part = parts[n];
      const nth = parts.slice(0, n).filter((one) => one.type === "image").length + 1;
      const name = `image ${nth} of turn ${at + 1}`;
      const url = `${this.area.dataset.ehImages}${part.image}/`;
      const alt = element("input", {
        class: "eh-input",
        "aria-label": `Description of ${name}`,
        placeholder: "Description for people and models that cannot see it",
        maxlength: "500",
        "data-alt": true,
      });
      alt.value = part.alt ?? "";
      alt.addEventListener("input", () => edit(n, { alt: alt.value }));
      const remove = () => {
        this.turns[at] = { ...this.turns[at], content: contentOf(parts.filter((_, other) => other !== n)) };
        this.replace(this.turns);
      };
      const open = { href: url, target: "_blank", rel: "noopener", title: `Open ${name} at full size` };
      return element(
        "div",
        { class: "eh-images" },
        element("a", open, element("img", { src: url, alt: part.alt || name })),
        alt,
        button("Remove image", remove, { "aria-label": `Remove ${name}` }),
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
