"use strict";
/* Feedback inbox, and drafts of tests, by keyboard, without page loads: a key presses the button
   with that data-key. Everything works without this script, too. */

(() => {
    const page = document.getElementById("inbox-page");
    if (!page) return;
    const status = document.getElementById("inbox-status");
    const trouble = document.getElementById("inbox-trouble");
    const { request, attemptTo, repeat } = window.evalhub.reviewRequests(page, trouble);
    const inbox = () => document.getElementById("inbox");
    const { isTyping, showRaw } = window.evalhub;

    // Meaning of a number key: "", or duplicate, attach, test, tag

    let mode = "";
    const asks = {
        duplicate: "Press the number of the original; Esc cancels.",
        attach: "Press the number of an issue; / finds another; Esc cancels.",
        test: "Press the number of an issue, or n for its own or a new one; Esc cancels.",
        tag: "Press the number of a tag to select or clear it; Esc ends.",
    };
    const setMode = (wanted) => {
        mode = wanted;
        inbox().dataset.mode = mode;
        const line = inbox().querySelector("[data-choosing]");
        if (line) {
            line.hidden = !mode;
            line.textContent = asks[mode] || "";
        }
        if (mode) status.textContent = asks[mode];
    };
    const choose = (number) => {
        const wanted = inbox().querySelector(`[data-${mode}="${number}"]`);
        if (!wanted) {
            status.textContent = `No choice ${number} here.`;
            return;
        }
        wanted.click();
        if (mode === "tag") status.textContent = `${wanted.checked ? "Selected" : "Cleared"}: ${wanted.parentElement.textContent.trim()}`;
    };

    // Parts of the page, swapped without a page load

    let busy = false;
    const prepare = () => {
        for (const hidden of inbox().querySelectorAll("[data-mode][hidden], [data-find-label]")) hidden.hidden = false;
        for (const shown of inbox().querySelectorAll("[data-show]")) shown.hidden = true;
        setMode("");
        showRaw();
    };
    const put = (html) => {
        const made = document.createElement("template");
        made.innerHTML = html;
        const part = made.content.getElementById("inbox");
        inbox().replaceWith(part);
        htmx.process(part);
        prepare();
        const said = part.querySelector("[data-said]");
        status.replaceChildren(...(said ? said.childNodes : []));
        const heading = part.querySelector("[data-heading]");
        heading?.focus({ preventScroll: true });
        // After an action far down, show its message and the top of the next item.
        if (status.getBoundingClientRect().top < 0) window.scrollTo({ top: 0 });
        part.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    };
    const load = async (url, { fieldsNow = () => null, persist = repeat } = {}) => {
        if (busy) {
            status.textContent = "Still saving: press it again.";
            return false;
        }
        busy = true;
        inbox().setAttribute("aria-busy", "true");
        try {
            const headers = { "X-Requested-With": "fetch" };
            const html = await persist(async () => (await request(url, { fields: fieldsNow(), headers })).text());
            if (html) put(html);
            return Boolean(html);
        } finally {
            busy = false;
            inbox().removeAttribute("aria-busy");
        }
    };
    // Texts with data-guarded are lost by going on, unlike those that an act takes along.
    const isEdited = () => [...inbox().querySelectorAll("[data-guarded]")].some((text) => text.value !== text.defaultValue);
    const go = async (url, isBack = false) => {
        if (isEdited() && !isBack) {
            status.textContent = "Save your edits first: press s.";
            return;
        }
        const done = await load(url);
        if (done && !isBack) history.pushState({}, "", url);
    };
    // A version guards each act, so it can be repeated; a repeated undo would undo another.
    const send = async (form, button) => {
        const persist = button?.value === "undo" ? attemptTo : repeat;
        const done = await load(form.action, { fieldsNow: () => new FormData(form, button), persist });
        if (done) history.replaceState({}, "", inbox().dataset.url);
    };

    page.addEventListener("click", (event) => {
        const link = event.target.closest("a[data-part]");
        if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
            event.preventDefault();
            go(link.href);
            return;
        }
        const opener = event.target.closest("[data-mode]:not(#inbox)");
        if (opener) setMode(opener.dataset.mode);
        const focuser = event.target.closest("[data-focus]");
        if (focuser) document.getElementById(focuser.dataset.focus).focus();
    });
    page.addEventListener("submit", (event) => {
        if (event.target.matches("[data-triage]")) {
            event.preventDefault();
            send(event.target, event.submitter);
        } else if (event.target.matches("[data-filters]")) {
            event.preventDefault();
            const wanted = new URLSearchParams([...new FormData(event.target)].filter(([, value]) => value));
            go(`${event.target.getAttribute("action")}?${wanted}`);
        }
    });
    page.addEventListener("change", (event) => {
        if (event.target.closest("[data-filters]")) event.target.form.requestSubmit();
    });
    window.addEventListener("beforeunload", (event) => isEdited() && event.preventDefault());
    window.addEventListener("popstate", () => go(location.href, true));

    // Another issue, which htmx finds by title or number

    page.addEventListener("htmx:beforeSwap", (event) => {
        const { xhr, requestConfig } = event.detail;
        if (new URL(xhr.responseURL).pathname === requestConfig.path) return;
        event.detail.shouldSwap = false;
        attemptTo(() => request(inbox().dataset.url)); // it says that the user is logged out
    });

    page.addEventListener("htmx:afterSwap", (event) => {
        const found = event.target.querySelectorAll("li").length;
        status.textContent = found ? `${found} issues found.` : "No issue found.";
    });

    // Keys

    const press = (key) => inbox().querySelector(`[data-key="${key}"]`)?.click();
    const acts = {
        ArrowRight: () => press("j"),
        ArrowLeft: () => press("k"),
        n: () => (mode === "test" ? inbox().querySelector("[data-new-test]")?.click() : press("n")),
        g: () => (inbox().querySelector("[data-tag]") ? setMode("tag") : undefined),
        r: () => inbox().querySelector("[data-note]")?.focus(),
        "/": () => {
            if (mode !== "test") setMode("attach");
            inbox().querySelector("[data-find]")?.focus();
        },
        Escape: () => setMode(""),
    };
    const whileTyping = (event) => {
        const field = event.target;
        if (event.key === "Escape") field.blur();
        else if (event.key === "Enter" && field.matches("[data-find]")) {
            event.preventDefault();
            field.blur();
        } else if (event.key === "Enter" && event.ctrlKey && field.matches("[data-note]")) {
            event.preventDefault();
            press("x");
        }
    };
    document.addEventListener("keydown", (event) => {
        if (event.isComposing || event.altKey || event.metaKey) return;
        if (page.contains(event.target) && isTyping(event.target)) {
            whileTyping(event);
            return;
        }
        if (event.ctrlKey || isTyping(event.target)) return;
        if (document.querySelector("dialog[open]")) return;
        if (mode && /^[1-9]$/.test(event.key)) {
            event.preventDefault();
            choose(event.key);
        } else if (acts[event.key]) {
            event.preventDefault();
            acts[event.key]();
        } else if (/^[a-z0-9]$/.test(event.key)) {
            if (inbox().querySelector(`[data-key="${event.key}"]`)) event.preventDefault();
            press(event.key);
        }
    });

    prepare();
})();
