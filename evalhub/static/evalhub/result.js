"use strict";
/* A page with an answer or a pair and the form for its verdict; it works without this script too. */

(() => {
    const page = document.querySelector("[data-reading]");
    if (!page) return;
    const { verdicts } = window.evalhub;

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

    page.querySelectorAll("[data-verdict]").forEach((form) => verdicts.prepare(form));
    document.addEventListener("keydown", (event) => verdicts.press(page, event));
})();
