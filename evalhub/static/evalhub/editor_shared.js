/* What the editors of forms share. Loaded before them. */

(() => {
  "use strict";

  /* An element; an attribute that is true stands without a value, one that is false not at all. */
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

  /* Say once what is wrong with a field, without keeping its form from being sent. */
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
