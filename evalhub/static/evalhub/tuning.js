// Judge tuning: the end of an attempt, and answers by keyboard.
"use strict";

(() => {
    // A reload must not lose an edited prompt.
    document.addEventListener("tuning:ended", () => {
        const isEdited = [...document.querySelectorAll("textarea")].some((field) => field.value !== field.defaultValue);
        if (isEdited) document.querySelector("[data-tn-ended]").hidden = false;
        else window.location.reload();
    });

    const answers = [...document.querySelectorAll("[data-tn-answer]")];
    const step = (by) => {
        const at = answers.indexOf(document.activeElement.closest("[data-tn-answer]"));
        const next = answers[at < 0 ? (by > 0 ? 0 : answers.length - 1) : at + by];
        if (next) {
            next.focus();
            next.scrollIntoView({ block: "start" });
            return;
        }
        document.querySelector(by > 0 ? "[data-tn-more]" : "[data-tn-less]")?.click();
    };

    for (const button of document.querySelectorAll("[data-tn-step]")) {
        button.addEventListener("click", () => step(Number(button.dataset.tnStep)));
    }
})();
