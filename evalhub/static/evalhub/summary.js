// The page of an executive summary looks again until the analyst has replied.
"use strict";

(() => {
    const AGAIN_MS = 4000;
    const page = document.getElementById("summary-page");

    const look = async () => {
        if (document.hidden) {
            setTimeout(look, AGAIN_MS);
            return;
        }
        let reply;
        try {
            reply = await fetch(location.href, { headers: { Accept: "text/html" } });
        } catch {
            setTimeout(look, 4 * AGAIN_MS);
            return;
        }
        const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
        const state = fresh.getElementById("summary-state");
        const shown = document.getElementById("summary-state");
        if (state && state.textContent !== shown.textContent) {
            location.reload();
            return;
        }
        setTimeout(look, AGAIN_MS);
    };

    if (page && page.dataset.live === "1") {
        setTimeout(look, AGAIN_MS);
    }
})();
