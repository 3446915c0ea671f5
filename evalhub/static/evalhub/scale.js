/* The editor of a judge template's scale, over the JSON field that works without it.

   Options with label, value and description, a threshold and its rule; presets to start from. */

(() => {
  "use strict";

  const { element, button, complain, whenReady } = window.evalhubEditing;
  const OWN = "custom";

  const parsed = (text) => {
    try {
      const scale = JSON.parse(text);
      const known = scale && Array.isArray(scale.options) && scale.options.every((o) => o && typeof o === "object");
      return known ? scale : null;
    } catch {
      return null;
    }
  };

  /* A number if the text is one; else the text, so that the server can report it. */
  const value = (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text);

  const rounded = (number) => (typeof number === "number" ? String(Number(number.toFixed(4))) : String(number ?? ""));

  class Scale {
    constructor(area) {
      this.area = area;
      this.presets = JSON.parse(area.dataset.ehScale);
      this.box = element("div", { class: "eh-scale" });
      this.source = button("Edit as JSON", () => this.toggleSource());
      area.before(this.box);
      area.after(element("div", { class: "eh-toolbar eh-after" }, this.source));
      this.read();
    }

    read() {
      this.scale = parsed(this.area.value);
      this.showsSource = this.scale === null;
      this.draw();
    }

    write() {
      this.area.value = JSON.stringify(this.scale, null, 2);
      this.area.dispatchEvent(new Event("input", { bubbles: true }));
      this.choice.value = this.preset();
    }

    replace(scale) {
      this.scale = scale;
      this.draw();
      this.write();
    }

    toggleSource() {
      if (this.showsSource && parsed(this.area.value) === null) {
        complain(this.area, "This is not a scale: it needs a list of options.");
        return;
      }
      this.showsSource = !this.showsSource;
      this.scale = parsed(this.area.value) || this.scale;
      this.draw();
    }

    /* The preset equal to this scale. */
    preset() {
      const same = Object.entries(this.presets).find(([, scale]) => JSON.stringify(scale) === JSON.stringify(this.scale));
      return same ? same[0] : OWN;
    }

    draw() {
      this.area.toggleAttribute("data-eh-hidden", !this.showsSource);
      this.box.toggleAttribute("data-eh-hidden", this.showsSource);
      this.source.textContent = this.showsSource ? "Edit as options" : "Edit as JSON";
      if (!this.scale) return;
      const body = element("tbody", {}, ...this.scale.options.map((option, at) => this.row(option, at)));
      const head = element(
        "tr",
        {},
        ...["Label", "Value (0 to 1)", "Meaning", ""].map((name) => element("th", { scope: "col" }, name)),
      );
      const table = element("table", { class: "eh-table" }, element("thead", {}, head), body);
      this.box.replaceChildren(this.start(), element("div", { class: "eh-scroll" }, table), this.rule());
    }

    start() {
      const names = [...Object.keys(this.presets), OWN];
      this.choice = element("select", { class: "eh-input", "aria-label": "Scale" }, ...names.map((name) => element("option", { value: name }, name)));
      this.choice.value = this.preset();
      this.choice.addEventListener("change", () => {
        const chosen = this.presets[this.choice.value];
        if (chosen) this.replace(structuredClone(chosen));
      });
      return element("div", { class: "eh-toolbar" }, this.choice);
    }

    row(option, at) {
      const name = `option ${at + 1}`;
      const cell = (key, size) => {
        const shown = key === "value" ? rounded(option[key]) : option[key] || "";
        const input = element("input", { type: "text", class: "eh-input", size, value: shown, placeholder: key, "aria-label": `${key} of ${name}` });
        input.addEventListener("input", () => {
          option[key] = key === "value" ? value(input.value) : input.value;
          this.write();
        });
        return element("td", {}, input);
      };
      const { options } = this.scale;
      const swap = (by) => {
        [options[at], options[at + by]] = [options[at + by], options[at]];
        this.replace(this.scale);
        this.box.querySelectorAll("tbody tr")[at + by].querySelector("button:not(:disabled)").focus();
      };
      const up = button("↑", () => swap(-1), { "aria-label": `Move ${name} up` });
      const down = button("↓", () => swap(1), { "aria-label": `Move ${name} down` });
      up.disabled = at === 0;
      down.disabled = at === options.length - 1;
      const remove = button("Remove", () => this.replace({ ...this.scale, options: options.filter((o) => o !== option) }), {
        "aria-label": `Remove ${name}`,
      });
      const acts = element("td", {}, element("div", { class: "eh-toolbar eh-scale-acts" }, up, down, remove));
      return element("tr", {}, cell("label", 16), cell("value", 6), cell("description", 40), acts);
    }

    rule() {
      const add = button("Add option", () => {
        this.replace({ ...this.scale, options: [...this.scale.options, { label: "", description: "", value: 0 }] });
        this.box.querySelector("tbody tr:last-child input").focus();
      });
      const choices = [["strict", "above"], ["inclusive", "of at least"]];
      const rule = element("select", { class: "eh-input", "aria-label": "Pass rule" }, ...choices.map(([key, label]) => element("option", { value: key }, label)));
      rule.value = this.scale.rule || "strict";
      rule.addEventListener("change", () => {
        this.scale.rule = rule.value;
        this.write();
      });
      const threshold = element("input", { type: "text", class: "eh-input", size: 6, "aria-label": "Pass threshold", value: rounded(this.scale.threshold ?? 0.5) });
      threshold.addEventListener("input", () => {
        this.scale.threshold = value(threshold.value);
        this.write();
      });
      const said = element("span", { class: "eh-toolbar" }, "A score", rule, threshold, "passes.");
      return element("div", { class: "eh-toolbar eh-after" }, add, said);
    }
  }

  const start = () => document.querySelectorAll("textarea[data-eh-scale]").forEach((area) => new Scale(area));

  whenReady(start);
})();
