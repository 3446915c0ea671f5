// Opens both answers to a test below its row.
"use strict";

(() => {
    const { toggleBelow, verdicts } = window.evalhub;
    const ANSWERS = /\/compare\/answers\/\d+\/\d+\/$/;

    // A saved verdict shows both answers anew, with what was saved.
    const done = async (address, form) => {
        const answers = form.closest(".cm-answers");
        const { id } = form;
        await htmx.ajax("GET", answers.dataset.cmAnswers, { source: answers, target: answers, swap: "outerHTML" });
        document.getElementById(id)?.closest("[data-own]").querySelector("summary").focus();
    };
    document.addEventListener("htmx:load", ({ target }) => {
        for (const form of target.querySelectorAll("[data-verdict]")) verdicts.prepare(form, { done });
    });
    document.addEventListener("keydown", (event) => {
        const own = event.target.closest("[data-own]");
        if (own) verdicts.press(own, event);
    });

    document.addEventListener("click", (event) => {
        const link = event.target.closest("#report td a[href], #report tbody th a[href]");
        if (!link || link.closest(".cm-answers") || event.ctrlKey || event.metaKey || event.shiftKey) return;
        const url = new URL(link.href);
        if (url.origin !== window.location.origin || !ANSWERS.test(url.pathname)) return;
        event.preventDefault();
        toggleBelow(link, `${url.pathname}?part=1`);
    });
})();
