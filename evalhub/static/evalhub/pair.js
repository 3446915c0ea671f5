// Chooses the better of two answers by keys, and outlives a lost network or session.
"use strict";

(() => {
    const { isTyping, reviewRequests } = window.evalhub;
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

    document.addEventListener("keydown", (event) => {
        const isPlain = !event.isComposing && !event.altKey && !event.ctrlKey && !event.metaKey;
        if (!isPlain) return;
        if (event.key === "Escape") document.activeElement?.blur();
        if (isTyping(event.target)) return;
        const wanted = form.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
        const focused = form.querySelector(`[data-key-focus="${CSS.escape(event.key)}"]`);
        if (!wanted && !focused) return;
        event.preventDefault();
        if (wanted) wanted.click();
        else focused.focus();
    });
})();
