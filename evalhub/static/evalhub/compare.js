// Opens both answers to a test below its row, and finds runs while one types.
"use strict";

(() => {
    const { isTyping, verdicts } = window.evalhub;
    const ANSWERS = /\/compare\/answers\/\d+\/\d+\/$/;

    const part = async (address) => {
        const url = new URL(address, window.location.href);
        url.searchParams.set("part", "1");
        const answer = await fetch(url, { credentials: "same-origin" });
        if (!answer.ok) {
            throw new Error(answer.status);
        }
        return answer.text();
    };

    // Both answers -------------------------------------------------------------------------------

    const fill = async (cell, address) => {
        cell.innerHTML = await part(address);
        prepare(cell);
    };

    // A saved verdict shows both answers anew, with what was saved.
    const prepare = (root) => {
        const done = async (address, form) => {
            const cell = form.closest(".cm-answers").parentElement;
            const { id } = form;
            await fill(cell, cell.firstElementChild.dataset.cmAnswers);
            document.getElementById(id)?.closest("[data-own]").querySelector("summary").focus();
        };
        for (const form of root.querySelectorAll("[data-verdict]")) verdicts.prepare(form, { done });
    };
    prepare(document);
    document.addEventListener("keydown", (event) => {
        const own = event.target.closest("[data-own]");
        const isPlain = !event.isComposing && !event.altKey && !event.ctrlKey && !event.metaKey;
        if (!own || !isPlain || isTyping(event.target) || verdicts.ignores(own, event)) return;
        if (verdicts.press(own, event)) event.preventDefault();
    });

    const open = async (link, row) => {
        const inside = document.createElement("tr");
        inside.className = "eh-inside";
        const cell = inside.insertCell();
        cell.colSpan = row.cells.length;
        row.after(inside);
        await fill(cell, link.href);
        link.setAttribute("aria-expanded", "true");
    };

    const toggle = async (link) => {
        const row = link.closest("tr");
        const inside = row.nextElementSibling;
        if (inside && inside.classList.contains("eh-inside")) {
            inside.remove();
            link.setAttribute("aria-expanded", "false");
        } else {
            await open(link, row);
        }
    };

    const change = (link) => fill(link.closest("td"), link.href);

    document.addEventListener("click", (event) => {
        const link = event.target.closest("#report a[href]");
        if (!link || event.ctrlKey || event.metaKey || event.shiftKey) {
            return;
        }
        const url = new URL(link.href);
        if (url.origin === window.location.origin && ANSWERS.test(url.pathname)) {
            event.preventDefault();
            const act = link.closest(".cm-answers") ? change : toggle;
            act(link).catch(() => window.location.assign(link.href));
        }
    });

    // Runs ---------------------------------------------------------------------------------------

    const form = document.querySelector("[data-cm-find]");
    let latest = 0;

    const find = async () => {
        const asked = ++latest;
        const query = new URLSearchParams(new FormData(form));
        const found = await part(`${form.dataset.cmFind}?${query}`);
        if (asked === latest) {
            document.querySelector("[data-cm-offered]").innerHTML = found;
        }
    };

    if (form) {
        let waiting = 0;
        form.elements.find.addEventListener("input", () => {
            clearTimeout(waiting);
            waiting = setTimeout(() => find().catch(() => form.requestSubmit()), 200);
        });
    }
})();
