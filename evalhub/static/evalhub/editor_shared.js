/* Helpers of the form editors. Loaded before them. */

(() => {
  "use strict";

  /* Create an element; a true attribute has no value, a false one is left out. */
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => {
      if (value === true) made.setAttribute(name, "");
      else if (value !== false) made.setAttribute(name, value);
    });
    made.append(...children);
    return made;
  };

  const button = (label, act, attributes = {}) => {
    const made = element("button", { type: "button", class: "eh-button", ...attributes }, label);
    made.addEventListener("click", act);
    return made;
  };

  /* Report a field's problem once, without blocking its form. */
  const complain = (field, words) => {
    field.setCustomValidity(words);
    field.reportValidity();
    field.setCustomValidity("");
  };

  const whenReady = (start) => {
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
    else start();
  };

  /* Give each event of a response to `take`, as it arrives where the browser can. */
  const readEvents = async (response, take) => {
    let rest = "";
    const add = (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      lines.filter((line) => line.trim()).forEach((line) => take(JSON.parse(line)));
    };
    if (!response.body) return add(`${await response.text()}\n`);
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return add("\n");
      add(decoder.decode(value, { stream: true }));
    }
  };

  window.evalhubEditing = { element, button, complain, readEvents, whenReady };
})();
