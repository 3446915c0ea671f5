"use strict";
/* The work page of a review queue: item after item by keyboard, without page loads.
   Every form works without this script too. Nothing is stored in the browser. */

(() => {
    const page = document.getElementById("review");
    if (!page) return;
    const workspace = document.getElementById("review-workspace");
    const status = document.getElementById("review-status");
    const trouble = document.getElementById("review-trouble");
    const CHECK_MS = 15000;

    const { isTyping, showRaw, verdicts } = window.evalhub;
    const find = (selector) => workspace.querySelector(selector);
    const columns = () => find("[data-assignment]");
    const assignment = () => columns()?.dataset.assignment ?? "";
    const state = () => columns()?.dataset.state ?? "";
    const isOpen = () => state() === "reserved" || state() === "sent_back";
    const verdict = () => document.getElementById("review-form");

    const requests = window.evalhub.reviewRequests(page, trouble);
    const { attempt, retry, showTrouble } = requests;
    const formFields = () => {
        const fields = verdict() ? verdicts.fieldsOf(verdict()) : new FormData();
        fields.set("assignment", assignment());
        return fields;
    };
    const drafts = () => verdicts.draftsOf(verdict());

    // Items ---------------------------------------------------------------------------------------

    // Safe to repeat; a repeated undo would reopen another item.
    const REPEATABLE = new Set(["submit", "skip", "next"]);
    const SENDS_ALL = new Set(["submit", "skip", "leave"]);

    let isBusy = false;

    const show = (answer, { quietly = false } = {}) => {
        drafts()?.forget();
        const parsed = new DOMParser().parseFromString(answer.html, "text/html");
        workspace.replaceChildren(...parsed.body.childNodes);
        history.replaceState(null, "", answer.url);
        prepare();
        if (quietly) return;
        status.textContent = answer.announce;
        window.scrollTo({ top: 0 });
        document.getElementById("review-item")?.focus({ preventScroll: true });
    };

    const refuse = (problems) => {
        const box = find("[data-problems]");
        for (const field of workspace.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
        if (!box) return showTrouble(problems.map((problem) => problem.text).join(" "));
        const lines = problems.map((problem) => {
            const line = document.createElement("p");
            line.textContent = problem.text;
            return line;
        });
        box.replaceChildren(...lines);
        box.hidden = false;
        const named = problems.map((problem) => workspace.querySelector(`[name="${CSS.escape(problem.field)}"]`)).find(Boolean);
        named?.setAttribute("aria-invalid", "true");
        (named ?? box).scrollIntoView({ block: "nearest" });
        named?.focus();
        return undefined;
    };

    const onLost = (isDone = false) => {
        const next = document.createElement("button");
        Object.assign(next, { type: "button", className: "eh-button rn-small", textContent: "Next item" });
        next.addEventListener("click", () => act("next"));
        showTrouble(isDone
            ? "You submitted a verdict on this item in another tab, and it stays. Submit this one to replace it, or go on. "
            : "Your reservation expired and somebody took this item. Your draft is still in the form: copy what you need. ", next);
    };

    const act = async (name, more = {}) => {
        if (isBusy) return;
        isBusy = true;
        workspace.setAttribute("aria-busy", "true");
        try {
            const fields = () => {
                const all = formFields();
                for (const [key, value] of Object.entries(more)) all.set(key, value);
                return all;
            };
            await drafts()?.settle();
            if (!SENDS_ALL.has(name)) await drafts()?.save();
            const answer = REPEATABLE.has(name) ? await retry(name, fields) : await attempt(name, fields());
            if (!answer) return;
            if (answer.go) location.assign(answer.go);
            else if (answer.problems) {
                refuse(answer.problems);
                if (answer.lost) onLost();
            } else show(answer);
        } finally {
            isBusy = false;
            workspace.removeAttribute("aria-busy");
        }
    };

    const submitForm = (form, submitter) => act("submit", submitter?.name === "agree" ? { agree: submitter.value } : {});
    const acceptDraft = (answer) => {
        if (answer.problems) refuse(answer.problems);
        else if (!answer.is_yours && !verdict().elements.replaces) onLost(answer.is_done);
        return !answer.problems && answer.is_yours;
    };

    document.addEventListener("submit", (event) => {
        const form = event.target.closest("[data-review-act]");
        if (!form) return;
        event.preventDefault();
        const fields = new FormData(form, event.submitter);
        for (const name of ["csrfmiddlewaretoken", "seconds", "assignment"]) fields.delete(name);
        act(fields.get("act"), Object.fromEntries(fields));
    });

    // Reservation and polling -----------------------------------------------------------------------

    const renew = async () => {
        if (document.hidden || isBusy || !isOpen()) return;
        const about = assignment();
        const answer = await attempt("renew", { assignment: about });
        if (answer && !answer.is_yours && about === assignment()) onLost(answer.is_done);
    };
    const checkForItems = async () => {
        if (document.hidden || isBusy || state() !== "awaits") return;
        const answer = await attempt("next", {});
        if (answer && !isBusy) show(answer, { quietly: !answer.html.includes("review-form") });
    };
    setInterval(renew, Number(page.dataset.renewMs));
    setInterval(checkForItems, CHECK_MS);
    document.addEventListener("visibilitychange", () => {
        if (document.hidden) drafts()?.leave();
        else renew();
    });

    // Texts -------------------------------------------------------------------------------------

    const toggleDiff = () => {
        const diff = find("[data-review-diff]");
        if (!diff) {
            status.textContent = "This test has no reference answer to compare with.";
            return;
        }
        diff.open = !diff.open;
        if (diff.open) diff.scrollIntoView({ block: "nearest" });
    };
    const startFromAnswer = () => {
        const answer = find(".rn-turn--answer [data-raw]");
        const correction = verdict().correction;
        if (correction.value && correction.value !== answer.textContent && !window.confirm("Replace your text with the answer?")) return;
        correction.value = answer.textContent;
        correction.dispatchEvent(new Event("input", { bubbles: true }));
        correction.focus();
    };
    const skip = () => {
        const box = document.getElementById("review-skip");
        if (!box) return;
        box.open = true;
        box.querySelector("[data-ready]").focus();
        box.scrollIntoView({ block: "nearest" });
    };
    const closeSkip = () => {
        const box = document.getElementById("review-skip");
        if (!box?.open) return false;
        box.open = false;
        box.querySelector("summary").focus();
        return true;
    };

    // Prepare new content from the server
    const prepare = () => {
        if (verdict()) verdicts.prepare(verdict(), { requests, send: submitForm, accept: acceptDraft });
        showRaw();
        for (const hidden of page.querySelectorAll("[data-review-start]")) hidden.hidden = false;
        for (const field of workspace.querySelectorAll("[data-notified] [name=assignment]")) field.value = "";
    };

    workspace.addEventListener("click", (event) => {
        if (event.target.closest("[data-review-start]")) startFromAnswer();
    });

    // Keys --------------------------------------------------------------------------------------

    workspace.addEventListener("change", async ({ target }) => {
        if (target.id !== "review-keys-off") return;
        page.toggleAttribute("data-keys-off", target.checked);
        await retry("keys", () => ({ off: target.checked ? "1" : "0" }));
    });

    const forward = () => {
        if (isOpen()) skip();
        else act(state() === "submitted" ? "later" : "next");
    };
    const escape = (target) => {
        if (closeSkip()) return;
        if (isTyping(target) && verdicts.pointAt(target)) verdicts.goTo(verdicts.pointAt(target));
        else document.getElementById("review-item")?.focus({ preventScroll: true });
    };
    const commands = {
        n: () => verdict()?.note.focus(),
        d: toggleDiff,
        s: skip,
        u: () => act("undo"),
        k: () => act("earlier"),
        j: forward,
        Escape: escape,
    };
    workspace.addEventListener("keydown", (event) => {
        const { key, target } = event;
        if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target) || page.hasAttribute("data-keys-off")) return;
        const ready = target.closest("#review-skip")?.querySelector(`[data-ready="${CSS.escape(key)}"]`);
        if (!ready) return;
        event.preventDefault();
        event.stopPropagation();
        ready.click();
    });
    document.addEventListener("keydown", (event) => isBusy || verdicts.press(page, event, commands));

    prepare();
    if (page.dataset.focused !== "1") document.getElementById("review-item")?.focus({ preventScroll: true });
})();
