// Rehearsals: live progress of a try, and answers by keyboard.
"use strict";

(() => {
    const POLL_MS = 1500;

    // Progress ------------------------------------------------------------------------------------

    const live = document.querySelector("[data-tn-progress]");
    const poll = async () => {
        let progress;
        try {
            const reply = await fetch(live.dataset.tnProgress, { headers: { Accept: "application/json" } });
            if (!reply.ok) {
                throw new Error(reply.statusText);
            }
            progress = await reply.json();
        } catch {
            setTimeout(poll, 4 * POLL_MS);
            return;
        }
        for (const one of progress.attempts) {
            const row = document.getElementById(`attempt-${one.id}`);
            if (row) {
                row.querySelector("[data-tn-ended]").textContent = one.ended;
                row.querySelector("[data-tn-bar]").style.width = `${one.percent}%`;
                row.querySelector("[role=progressbar]").setAttribute("aria-valuenow", Math.round(one.percent));
            }
        }
        if (progress.is_live) {
            setTimeout(poll, POLL_MS);
        } else if (!isEdited()) {
            window.location.reload();
        } else {
            document.querySelector("[data-tn-ended-note]").hidden = false;
        }
    };

    // What was typed is not lost to a reload.
    const isEdited = () =>
        [...document.querySelectorAll("textarea")].some((field) => field.value !== field.defaultValue);

    if (live) {
        setTimeout(poll, POLL_MS);
    }

    // Answers -------------------------------------------------------------------------------------

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
    document.addEventListener("keydown", (event) => {
        const by = { j: 1, k: -1 }[event.key];
        if (by && answers.length && !window.evalhub.isTyping(event)) {
            event.preventDefault();
            step(by);
        }
    });
})();
