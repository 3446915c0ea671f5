"use strict";
/* The page of one result, by keyboard. Everything works without this script too. */

(() => {
    const page = document.getElementById("result-page");
    if (!page) return;
    const form = document.getElementById("evaluation");
    const keys = document.getElementById("keys");
    const opened = Date.now();

    const follow = (name) => page.querySelector(`a[data-${name}]`)?.click();

    // Texts as written, or formatted

    let isRaw = false;
    const toggle = page.querySelector("[data-raw-toggle]");
    const showRaw = (wanted) => {
        isRaw = wanted;
        for (const raw of page.querySelectorAll("[data-raw]")) raw.hidden = !isRaw;
        for (const html of page.querySelectorAll("[data-formatted]")) html.hidden = isRaw;
        if (toggle) toggle.querySelector("[data-raw-label]").textContent = isRaw ? "Show formatted" : "Show as written";
    };
    if (toggle) {
        toggle.hidden = false;
        toggle.addEventListener("click", () => showRaw(!isRaw));
    }

    // The sheet of keys

    const sheet = page.querySelector("[data-keys]");
    sheet.hidden = false;
    const showKeys = () => (keys.open ? keys.close() : keys.showModal());
    sheet.addEventListener("click", showKeys);

    // The verdict

    const choose = (key) => {
        const option = form?.querySelector(`[data-key="${key}"]`);
        if (!option) return false;
        option.checked = true;
        form.justification.focus();
        return true;
    };
    const save = () => {
        if (form.dataset.sent) return;
        form.requestSubmit(form.querySelector('[value="save"]'));
    };
    form?.addEventListener("submit", (event) => {
        if (form.dataset.sent) {
            event.preventDefault();
            return;
        }
        form.dataset.sent = "1";
        form.seconds.value = Math.round((Date.now() - opened) / 1000);
    });
    window.addEventListener("pageshow", () => form && delete form.dataset.sent);

    // Keys

    const isTyping = (target) => target.matches("textarea, select, input:not([type=radio], [type=checkbox])");
    const isControl = (target) => target.closest("a, button, summary, [type=checkbox]");

    const whileTyping = (event) => {
        if (event.key === "Escape") event.target.blur();
        else if (event.key === "Enter" && !event.shiftKey && form?.contains(event.target)) {
            event.preventDefault();
            save();
        }
    };

    const acts = {
        j: () => follow("next"),
        ArrowRight: () => follow("next"),
        k: () => follow("previous"),
        ArrowLeft: () => follow("previous"),
        e: () => showRaw(!isRaw),
        u: () => page.querySelector("[data-undo]")?.click(),
        "?": showKeys,
    };

    document.addEventListener("keydown", (event) => {
        if (event.isComposing || event.altKey || event.metaKey) return;
        if (isTyping(event.target)) {
            whileTyping(event);
            return;
        }
        if (event.ctrlKey && event.key !== "Enter") return;
        if (keys.open && event.key !== "?") return;
        if (event.key === "Enter") {
            if (form && !isControl(event.target)) {
                event.preventDefault();
                save();
            }
        } else if (/^[1-9]$/.test(event.key)) {
            if (choose(event.key)) event.preventDefault();
        } else if (event.key.startsWith("Arrow") && event.target.matches("input")) {
            return;
        } else if (acts[event.key]) {
            event.preventDefault();
            acts[event.key]();
        }
    });
})();
