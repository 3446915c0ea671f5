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

  window.evalhubEditing = { element, button, complain, whenReady };
})();
