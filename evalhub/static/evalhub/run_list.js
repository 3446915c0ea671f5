"use strict";
/* The list of runs: rows of runs that work are refreshed every two seconds. */

(() => {
    const every = 2000;

    const start = () => {
        const list = document.getElementById("run-list");
        if (!list) return;
        const live = () => [...new Set(
            [...document.querySelectorAll('[data-run][data-live="1"]')].map((cell) => cell.dataset.run),
        )];
        const refresh = async () => {
            const ids = live();
            if (!ids.length) return;
            try {
                const response = await fetch(`${list.dataset.rows}?ids=${ids.join(",")}`);
                if (!response.ok) throw new Error(`status ${response.status}`);
                for (const [id, row] of Object.entries((await response.json()).rows)) {
                    for (const cell of document.querySelectorAll(`[data-run="${id}"]`)) {
                        if (row[cell.dataset.cell]) cell.outerHTML = row[cell.dataset.cell];
                        else cell.dataset.live = row.live ? "1" : "";
                    }
                }
            } finally {
                setTimeout(refresh, every);
            }
        };
        setTimeout(refresh, every);
    };

    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
    else start();
})();
