// The run's page: live progress, fresh figures without a reload, rows by keyboard.
"use strict";

(() => {
    const POLL_MS = 1500;
    const REFRESH_MS = 6000;
    const RATE_OVER_MS = 45000;
    const page = document.getElementById("run-page");

    // Progress ------------------------------------------------------------------------------------

    let samples = [];
    let refreshedAt = Date.now();
    let shown = "";

    const poll = async () => {
        let progress;
        try {
            const reply = await fetch(page.dataset.progress, { headers: { Accept: "application/json" } });
            if (!reply.ok) {
                throw new Error(reply.statusText);
            }
            progress = await reply.json();
        } catch {
            setTimeout(poll, 4 * POLL_MS);
            return;
        }
        show(progress);
        const state = JSON.stringify(progress);
        const ended = !progress.is_live;
        if (ended || (state !== shown && Date.now() - refreshedAt > REFRESH_MS)) {
            shown = state;
            refreshedAt = Date.now();
            await refresh();
        }
        if (!ended) {
            setTimeout(poll, document.hidden ? 4 * POLL_MS : POLL_MS);
        }
    };

    const show = (progress) => {
        for (const field of page.querySelectorAll("[data-count]")) {
            field.textContent = progress[field.dataset.count];
        }
        const parts = { ...progress.counts, awaiting: progress.awaiting };
        for (const part of page.querySelectorAll("[data-part]")) {
            const share = progress.total ? (100 * parts[part.dataset.part]) / progress.total : 0;
            part.style.width = `${share}%`;
        }
        const eta = document.getElementById("run-eta");
        if (eta) {
            eta.textContent = progress.is_live ? remaining(progress) : "";
        }
    };

    // Shown once the pace is known well enough; a pause starts it anew.
    const remaining = (progress) => {
        const done = progress.answered + progress.judged;
        const left = progress.total + progress.to_judge - done;
        const now = Date.now();
        if (samples.length && done < samples.at(-1).done) {
            samples = [];
        }
        samples.push({ now, done });
        samples = samples.filter((sample) => now - sample.now <= RATE_OVER_MS);
        const [first] = samples;
        const rate = (done - first.done) / (now - first.now);
        if (now - first.now < 8000 || done - first.done < 4 || left <= 0) {
            return "";
        }
        return `about ${inWords(left / rate)} left`;
    };

    const inWords = (ms) => {
        const minutes = Math.ceil(ms / 60000);
        if (minutes <= 1) {
            return "a minute";
        }
        return minutes < 90 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
    };

    // Fresh figures -------------------------------------------------------------------------------

    const isInUse = (part) =>
        part.contains(document.activeElement) && document.activeElement !== document.body
        || part.querySelector("details[open], dialog[open], [aria-expanded=true]") !== null;

    // Parts in use are replaced once they are left.
    const refresh = async () => {
        const fresh = await whole();
        const parts = [...document.querySelectorAll("[data-eh-refresh]")].filter((part) => fresh?.getElementById(part.id));
        const free = parts.filter((part) => !isInUse(part));
        free.forEach((part) => replaceContents(part, fresh.getElementById(part.id)));
    };

    // The page as it is now; null if it cannot be loaded.
    const whole = async () => {
        const url = new URL(window.location.href);
        url.hash = "";
        const reply = await fetch(url);
        return reply.ok ? new DOMParser().parseFromString(await reply.text(), "text/html") : null;
    };

    // A chart that is on the page stays and is redrawn, so that it does not blink.
    const replaceContents = (part, replacement) => {
        for (const old of part.querySelectorAll(".eh-chart[data-drawn]")) {
            const fresh = replacement.querySelector(`#${old.id}`);
            if (fresh) {
                old.dataset.figure = fresh.dataset.figure;
                fresh.replaceWith(old);
            }
        }
        part.replaceChildren(...replacement.childNodes);
        htmx.process(part);
        htmx.trigger(part, "htmx:load");
    };

    // Rows ----------------------------------------------------------------------------------------

    const rows = () => [...document.querySelectorAll("#results-grid [data-row]")];

    const move = (step) => {
        const all = rows();
        const at = all.findIndex((row) => row.getAttribute("aria-current") === "true");
        const to = Math.min(Math.max(at + step, 0), all.length - 1);
        if (all.length === 0) {
            return;
        }
        all[at]?.removeAttribute("aria-current");
        all[to].setAttribute("aria-current", "true");
        all[to].scrollIntoView({ block: "nearest" });
        all[to].querySelector("[data-open]")?.focus({ preventScroll: true });
    };

    const open = () => rows().find((row) => row.getAttribute("aria-current"))?.querySelector("[data-open]")?.click();

    // A selection to file

    const BOX = '[form="results-file"]';
    const filing = () => document.getElementById("results-file");
    const boxes = () => [...document.querySelectorAll(BOX)];
    const listed = () => boxes().filter((box) => box.closest("#results-grid"));
    const count = () => {
        const form = filing();
        if (!form) return;
        const chosen = boxes().filter((box) => box.checked).length;
        const every = form.querySelector("[data-file-all]");
        const said = form.querySelector("[data-file-count]");
        every.hidden = listed().length === 0;
        every.firstChild.checked = chosen > 0 && listed().every((box) => box.checked);
        form.querySelector("[data-file]").disabled = chosen === 0;
        said.textContent = chosen ? `${chosen} selected` : said.dataset.fileCount;
    };
    const select = () => rows().find((row) => row.getAttribute("aria-current"))?.querySelector("[name=result]")?.click();
    document.addEventListener("change", (event) => {
        if (event.target.closest("[data-file-all]")) for (const box of listed()) box.checked = event.target.checked;
        if (event.target.closest(`[data-file-all], ${BOX}`)) count();
    });
    document.addEventListener("htmx:load", count);
    window.addEventListener("pageshow", count);
    count();

    document.addEventListener("keydown", (event) => {
        if (event.defaultPrevented || !window.evalhub.isPageKey(event)) {
            return;
        }
        const actions = { j: () => move(1), k: () => move(-1), x: select };
        if (event.key in actions) {
            event.preventDefault();
            actions[event.key]();
        } else if (event.key === "Enter" && event.target === document.body) {
            open();
        }
    });

    document.addEventListener("click", (event) => {
        const button = event.target.closest(".eh-expand");
        if (button) {
            window.evalhub.toggleBelow(button, button.dataset.rows);
        }
    });

    if (page?.dataset.live === "1") {
        setTimeout(poll, POLL_MS);
    }
})();
