"use strict";
/* Keyboard shortcuts of the result page, which works without them too. */

(() => {
    const page = document.getElementById("result-page");
    if (!page) return;
    const { isTyping, toggleRaw, verdicts } = window.evalhub;

    const follow = (name) => page.querySelector(`a[data-${name}]`)?.click();

    // The rubric

    const criteria = [...page.querySelectorAll("[data-criterion]")];
    const openAll = page.querySelector("[data-open-all]");
    if (openAll && criteria.length > 1) {
        openAll.hidden = false;
        openAll.addEventListener("click", () => {
            const isOpen = criteria.every((criterion) => criterion.open);
            for (const criterion of criteria) criterion.open = !isOpen;
            openAll.textContent = isOpen ? "Open all" : "Close all";
        });
    }
    const openNamed = () => {
        const named = location.hash && document.getElementById(location.hash.slice(1));
        const criterion = named && named.querySelector("[data-criterion]");
        if (criterion) criterion.open = true;
    };
    window.addEventListener("hashchange", openNamed);
    openNamed();

    // The verdict: on the selected criterion, else on the whole

    page.querySelectorAll("[data-verdict]").forEach((form) => verdicts.prepare(form));
    const undo = () => {
        const own = verdicts.formAt(page)?.querySelector("[data-undo]");
        (own ?? page.querySelector(".rn-saved [data-undo]"))?.click();
    };

    // Keys

    const acts = {
        j: () => follow("next"),
        ArrowRight: () => follow("next"),
        k: () => follow("previous"),
        ArrowLeft: () => follow("previous"),
        e: toggleRaw,
        c: () => verdicts.step(page, 1),
        C: () => verdicts.step(page, -1),
        Escape: () => document.activeElement?.blur(),
        u: undo,
    };

    document.addEventListener("keydown", (event) => {
        if (event.isComposing || event.altKey || event.metaKey) return;
        if (isTyping(event.target)) {
            if (event.key === "Escape") event.target.blur();
            else if (event.key === "Enter" && event.ctrlKey) event.target.form?.requestSubmit();
            return;
        }
        if (event.ctrlKey ? event.key !== "Enter" : verdicts.ignores(page, event)) return;
        if (document.querySelector("dialog[open]")) return;
        if (event.key.startsWith("Arrow") && event.target.matches("input")) return;
        if (acts[event.key]) {
            event.preventDefault();
            acts[event.key]();
        } else if (verdicts.press(page, event)) event.preventDefault();
    });
})();
