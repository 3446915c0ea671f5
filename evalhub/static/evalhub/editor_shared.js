/* Helpers of the editors: elements, requests. Loaded before them, on all pages. */

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

  const LOST = "The server could not be reached. Nothing typed is lost: try again.";
  const FAILED = "The server failed. Nothing typed is lost: try again.";
  const GONE = "This was deleted meanwhile. Copy what you need of your text, then reload the page.";
  const OUT = "You are logged out, or may not do this. Log in again in another tab, then try again here: nothing typed is lost.";

  /* Logging in elsewhere makes a new token, so it is read for each request. */
  const token = () =>
    /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";

  /* Give the response to these fields, or to none; without one of this type throw an error that says what to do. */
  const request = async (address, fields, { type = "application/json", signal } = {}) => {
    const body = fields && (fields instanceof FormData ? fields : new URLSearchParams(fields));
    const headers = { Accept: type, "X-CSRFToken": token() };
    const response = await fetch(address, { method: body ? "POST" : "GET", body, headers, signal }).catch((error) => {
      throw error.name === "AbortError" ? error : new Error(LOST);
    });
    if (!response.redirected && response.headers.get("Content-Type")?.startsWith(type)) return response;
    if (response.status === 404) throw new Error(GONE);
    throw new Error(response.status >= 500 ? FAILED : OUT);
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

  window.evalhubEditing = { element, button, complain, readEvents, request, token, whenReady };
})();
