"use strict";
/* The command palette: Ctrl+K, words, arrows, Enter. The server searches. */

(() => {
    const dialog = document.getElementById("palette");
    if (!dialog) return;
    const words = document.getElementById("palette-words");
    const list = document.getElementById("palette-found");
    const said = document.getElementById("palette-said");
    const PAUSE_MS = 120;
    let waiting = 0;
    let shown = null; // the words whose results are shown
    let request = null;

    const options = () => [...list.querySelectorAll('[role="option"]')];
    const chosen = () => list.querySelector('[aria-selected="true"]');
    const choose = (option) => {
        chosen()?.setAttribute("aria-selected", "false");
        option?.setAttribute("aria-selected", "true");
        option?.scrollIntoView({ block: "nearest" });
        if (option) words.setAttribute("aria-activedescendant", option.id);
        else words.removeAttribute("aria-activedescendant");
    };
    const step = (by) => {
        const all = options();
        const place = all.indexOf(chosen()) + by;
        choose(all[(place + all.length) % all.length]);
    };
    const show = (html) => {
        list.innerHTML = html;
        const nothing = list.querySelector("[data-nothing]");
        said.textContent = nothing ? nothing.textContent : "";
        nothing?.remove();
        list.hidden = options().length === 0;
        words.setAttribute("aria-expanded", String(!list.hidden));
        choose(options()[0]);
    };
    const look = async () => {
        request?.abort();
        request = new AbortController();
        const asked = words.value;
        try {
            const url = `${dialog.dataset.url}?s=${encodeURIComponent(asked)}`;
            const response = await fetch(url, { signal: request.signal, credentials: "same-origin" });
            if (!response.ok || response.redirected) throw new Error("refused");
            const html = await response.text();
            shown = asked;
            show(html);
        } catch (error) {
            if (error.name === "AbortError") return;
            show("");
            said.textContent = "Search failed. Reload the page: you may be logged out.";
        }
    };
    const open = () => {
        if (dialog.open) return;
        dialog.showModal();
        words.focus();
        words.select();
        look();
    };

    const KEYS = {
        ArrowDown: () => step(1),
        ArrowUp: () => step(-1),
        Enter: (event) => {
            const option = chosen();
            if (!option) return;
            if (event.ctrlKey || event.metaKey) window.open(option.href, "_blank", "noopener");
            else option.click();
        },
    };
    words.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(look, PAUSE_MS);
    });
    words.addEventListener("keydown", async (event) => {
        if (!KEYS[event.key] || event.isComposing) return;
        event.preventDefault();
        if (event.key === "Enter" && shown !== words.value) {
            // Enter opens a result of the words typed, not an earlier one.
            clearTimeout(waiting);
            await look();
        }
        KEYS[event.key](event);
    });
    list.addEventListener("pointermove", (event) => {
        const option = event.target.closest('[role="option"]');
        if (option && option !== chosen()) choose(option);
    });
    dialog.addEventListener("click", (event) => {
        if (event.target === dialog || event.target.closest('[role="option"]')) dialog.close();
    });

    // Captured first: Firefox would focus its search field.
    document.addEventListener("keydown", (event) => {
        const isShortcut = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
        if (!isShortcut || event.key.toLowerCase() !== "k") return;
        event.preventDefault();
        open();
    }, true);
    document.addEventListener("click", (event) => {
        if (event.target.closest("[data-palette]")) open();
    });
})();
