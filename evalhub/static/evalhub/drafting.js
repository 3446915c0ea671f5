"use strict";
/* Adds options to the form for drafts, up to as many as the formset takes. */

(() => {
    const add = document.querySelector("[data-option-add]");
    if (!add) return;
    const rows = document.querySelector("[data-options]");
    const blank = document.querySelector("[data-option-blank]");
    const total = document.querySelector("[name=option-TOTAL_FORMS]");
    const most = Number(document.querySelector("[name=option-MAX_NUM_FORMS]").value);
    const show = () => { add.hidden = Number(total.value) >= most; };
    add.addEventListener("click", () => {
        rows.insertAdjacentHTML("beforeend", blank.innerHTML.replaceAll("__prefix__", total.value));
        total.value = Number(total.value) + 1;
        rows.lastElementChild.querySelector("input").focus();
        show();
    });
    show();
})();
