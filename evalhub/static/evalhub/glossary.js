// The search field of the glossary.
"use strict";

(() => {
    const search = document.getElementById("glossary-search");
    const count = document.getElementById("glossary-count");
    const entries = [...document.querySelectorAll("#glossary > div")];
    search.addEventListener("input", () => {
        const words = search.value.toLowerCase().split(/\s+/);
        for (const entry of entries) {
            entry.hidden = !words.every((word) => entry.textContent.toLowerCase().includes(word));
        }
        const shown = entries.filter((entry) => !entry.hidden).length;
        count.textContent = shown ? `${shown} of ${entries.length} terms` : "No results. Try fewer words.";
    });
})();
