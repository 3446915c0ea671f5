// Chooses the better of two answers; it outlives a lost network or session.
"use strict";

(() => {
    const { reviewRequests } = window.evalhub;
    const form = document.querySelector("[data-pair]");
    const requests = reviewRequests(form, form.querySelector("[data-trouble]"));
    const opened = Date.now();
    let isSent = false;

    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        if (isSent) return;
        isSent = true;
        const { value: act } = event.submitter;
        form.elements.seconds.value = Math.round((Date.now() - opened) / 1000);
        // The same choice again is recorded once; to undo twice would undo more.
        const answer = act === "undo"
            ? await requests.attempt(act, new FormData(form))
            : await requests.retry(act, () => new FormData(form));
        isSent = false;
        if (answer?.problems) requests.showTrouble(answer.problems.join(" "));
        else if (answer) location.reload();
    });

    form.addEventListener("keydown", (event) => event.key === "Escape" && event.target.blur());
})();
