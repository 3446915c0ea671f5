"use strict";
/* The work page of a review queue: one item after the other by keyboard, without a page load.
   Every form of the page works without this script too. Nothing is kept in the browser. */

(() => {
    const page = document.getElementById("review");
    if (!page) return;
    const bench = document.getElementById("review-bench");
    const says = document.getElementById("review-says");
    const trouble = document.getElementById("review-trouble");
    const sheet = document.getElementById("review-keys");
    const keysOff = document.getElementById("review-keys-off");
    const DRAFT_MS = 400;
    const LOOK_AGAIN_MS = 15000;
    const DRAFT_AGAIN_MS = 4000;

    const find = (selector) => bench.querySelector(selector);
    const columns = () => find("[data-assignment]");
    const assignment = () => columns()?.dataset.assignment ?? "";
    const state = () => columns()?.dataset.state ?? "";
    const isOpen = () => state() === "reserved" || state() === "sent_back";
    const verdict = () => document.getElementById("review-form");

    const { post, insist, explain, complain, calm } = window.evalhub.talkOfReview(page, trouble);

    // What was typed ----------------------------------------------------------------------------

    let opened = Date.now();
    let looked = 0;
    const seconds = () => {
        if (!document.hidden) looked += Date.now() - opened;
        opened = Date.now();
        return Math.round(looked / 1000);
    };
    const typed = () => {
        const form = verdict();
        const fields = new FormData(form ?? undefined);
        if (form) fields.set("seconds", seconds());
        fields.set("assignment", assignment());
        return fields;
    };

    let timer = 0;
    let isDirty = false;
    let saving = Promise.resolve();

    const note = (text) => {
        const kept = find("[data-review-kept]");
        if (kept) kept.textContent = text;
    };

    const saveDraft = () => {
        clearTimeout(timer);
        if (!isDirty || state() === "submitted") return saving;
        isDirty = false;
        const [fields, about] = [typed(), assignment()];
        saving = saving.then(async () => {
            try {
                const answer = await post("draft", fields);
                calm();
                if (about !== assignment()) return;
                if (answer.problems) refuse(answer.problems);
                else if (answer.held) note("draft saved");
                else lose();
            } catch (error) {
                explain(error);
                if (about !== assignment()) return;
                isDirty = true;
                timer = setTimeout(saveDraft, DRAFT_AGAIN_MS);
            }
        });
        return saving;
    };
    const typing = () => {
        isDirty = true;
        note("…");
        clearTimeout(timer);
        timer = setTimeout(saveDraft, DRAFT_MS);
    };
    const saveLeaving = () => {
        if (!isDirty || !verdict()) return;
        isDirty = false;
        post("draft", typed(), { keepalive: true }).catch(() => { isDirty = true; });
    };

    // One item after the other ------------------------------------------------------------------

    // To do these twice does no harm; an undo that was done twice would take back another item.
    const REPEATABLE = new Set(["submit", "skip", "next"]);
    const SENDS_ALL = new Set(["submit", "skip", "leave"]);

    let isBusy = false;

    const show = (answer, { quietly = false } = {}) => {
        clearTimeout(timer);
        isDirty = false;
        const parsed = new DOMParser().parseFromString(answer.html, "text/html");
        bench.replaceChildren(...parsed.body.childNodes);
        history.replaceState(null, "", answer.url);
        dress();
        if (quietly) return;
        says.textContent = answer.announce;
        window.scrollTo({ top: 0 });
        document.getElementById("review-item")?.focus({ preventScroll: true });
    };

    const refuse = (problems) => {
        const box = find("[data-review-problems]");
        for (const field of bench.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
        if (!box) return complain(problems.map((problem) => problem.text).join(" "));
        const lines = problems.map((problem) => {
            const line = document.createElement("p");
            line.textContent = problem.text;
            return line;
        });
        box.replaceChildren(...lines);
        box.hidden = false;
        const named = problems.map((problem) => bench.querySelector(`[name="${CSS.escape(problem.field)}"]`)).find(Boolean);
        named?.setAttribute("aria-invalid", "true");
        (named ?? box).scrollIntoView({ block: "nearest" });
        named?.focus();
        return undefined;
    };

    const lose = () => {
        const next = document.createElement("button");
        Object.assign(next, { type: "button", className: "eh-button rn-small", textContent: "Next item" });
        next.addEventListener("click", () => act("next"));
        complain("Somebody else has this item now, for it lay here untouched for too long. What you typed is still in the form: copy what you need. ", next);
    };

    const act = async (name, more = {}) => {
        if (isBusy) return;
        isBusy = true;
        bench.setAttribute("aria-busy", "true");
        try {
            const fields = () => {
                const all = typed();
                for (const [key, value] of Object.entries(more)) all.set(key, value);
                return all;
            };
            clearTimeout(timer);
            await saving;
            if (isDirty && !SENDS_ALL.has(name)) await saveDraft();
            const answer = REPEATABLE.has(name) ? await insist(name, fields) : await post(name, fields());
            calm();
            if (answer.go) location.assign(answer.go);
            else if (answer.problems) {
                refuse(answer.problems);
                if (answer.lost) lose();
            } else show(answer);
        } catch (error) {
            explain(error);
        } finally {
            isBusy = false;
            bench.removeAttribute("aria-busy");
        }
    };

    document.addEventListener("submit", (event) => {
        const form = event.target.closest("[data-review-act]");
        if (!form) return;
        event.preventDefault();
        const { submitter } = event;
        const fields = new FormData(form, submitter);
        fields.delete("csrfmiddlewaretoken");
        fields.delete("seconds");
        fields.delete("assignment");
        const name = fields.get("act");
        act(name, Object.fromEntries(fields));
    });

    // The reservation, and looking again --------------------------------------------------------

    const renew = async () => {
        if (document.hidden || isBusy || !isOpen()) return;
        const about = assignment();
        try {
            const answer = await post("renew", { assignment: about });
            calm();
            if (!answer.held && about === assignment()) lose();
        } catch (error) {
            explain(error);
        }
    };
    const lookAgain = async () => {
        if (document.hidden || isBusy || state() !== "awaits") return;
        try {
            const answer = await post("next", {});
            const isItem = answer.html.includes("review-form");
            if (!isBusy) show(answer, { quietly: !isItem });
        } catch (error) {
            explain(error);
        }
    };
    setInterval(renew, Number(page.dataset.renewMs));
    setInterval(lookAgain, LOOK_AGAIN_MS);
    document.addEventListener("visibilitychange", () => {
        if (document.hidden) {
            looked += Date.now() - opened;
            saveLeaving();
        } else {
            opened = Date.now();
            renew();
        }
    });
    window.addEventListener("pagehide", saveLeaving);

    // Options and criteria ----------------------------------------------------------------------

    const asks = () => [...bench.querySelectorAll("[data-ask]")];
    const points = () => asks().filter((ask) => ask.dataset.ask);
    const askAt = (element) => element?.closest("[data-ask]");
    const isScored = (ask) => ask.querySelector("[data-key]:checked") !== null;
    const here = () => askAt(document.activeElement)
        ?? asks().find((ask) => !ask.dataset.ask)
        ?? points().find((ask) => !isScored(ask)) ?? points()[0];

    const goTo = (ask) => {
        ask.focus({ preventScroll: true });
        ask.scrollIntoView({ block: "nearest" });
    };
    const step = (by) => {
        const all = points();
        const at = all.indexOf(askAt(document.activeElement));
        const wanted = at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by;
        if (all[wanted]) goTo(all[wanted]);
    };
    const need = (ask) => {
        const needed = ask.querySelector("[data-reason]:checked") !== null;
        const reason = ask.querySelector("textarea");
        reason.setAttribute("aria-required", String(needed));
        ask.toggleAttribute("data-needs-reason", needed);
        return needed && !reason.value.trim() ? reason : null;
    };
    const choose = (key) => {
        if (state() === "submitted") return;
        const ask = here();
        const option = ask?.querySelector(`[data-key="${key}"]`);
        if (!option) return;
        const isTakenBack = option.checked;
        option.checked = !isTakenBack;
        typing();
        const reason = need(ask);
        if (isTakenBack) goTo(ask);
        else if (reason) reason.focus();
        else if (ask.dataset.ask) {
            const all = points();
            const next = all.slice(all.indexOf(ask) + 1).find((each) => !isScored(each));
            goTo(next ?? ask);
        } else goTo(ask);
    };

    // Texts -------------------------------------------------------------------------------------

    let isRaw = false;
    const showRaw = (wanted) => {
        isRaw = wanted;
        for (const raw of bench.querySelectorAll("[data-raw]")) raw.hidden = !isRaw;
        for (const html of bench.querySelectorAll("[data-formatted]")) html.hidden = isRaw;
        for (const label of bench.querySelectorAll("[data-raw-label]")) label.textContent = isRaw ? "Show formatted" : "Show as written";
    };
    const toggleDiff = () => {
        const diff = find("[data-review-diff]");
        if (!diff) {
            says.textContent = "There is no reference to compare with.";
            return;
        }
        diff.open = !diff.open;
        if (diff.open) diff.scrollIntoView({ block: "nearest" });
    };
    const startFromAnswer = () => {
        const answer = find(".rn-turn--answer [data-raw]");
        const correction = verdict().correction;
        if (correction.value && correction.value !== answer.textContent && !window.confirm("Replace what you wrote by the answer?")) return;
        correction.value = answer.textContent;
        typing();
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

    // What the server's page needs of this script
    const dress = () => {
        opened = Date.now();
        looked = 1000 * Number(verdict()?.seconds.value || 0);
        showRaw(isRaw);
        for (const ask of asks()) need(ask);
        for (const hidden of page.querySelectorAll("[data-raw-toggle], [data-review-keys], [data-review-start]")) hidden.hidden = false;
        for (const field of bench.querySelectorAll("[data-notified] [name=assignment]")) field.value = "";
    };

    bench.addEventListener("input", (event) => {
        const form = event.target.closest("#review-form");
        if (!form) return;
        typing();
        const ask = askAt(event.target);
        if (ask) need(ask);
    });
    bench.addEventListener("click", (event) => {
        if (event.target.closest("[data-raw-toggle]")) showRaw(!isRaw);
        else if (event.target.closest("[data-review-keys]")) showKeys();
        else if (event.target.closest("[data-review-start]")) startFromAnswer();
    });

    // Keys --------------------------------------------------------------------------------------

    const showKeys = () => (sheet.open ? sheet.close() : sheet.showModal());
    keysOff.addEventListener("change", async () => {
        page.toggleAttribute("data-keys-off", keysOff.checked);
        await insist("keys", () => ({ off: keysOff.checked ? "1" : "0" }));
    });

    const submit = () => { if (verdict() && state() !== "submitted") act("submit"); };
    const forward = () => {
        if (isOpen()) skip();
        else act(state() === "submitted" ? "later" : "next");
    };
    const acts = {
        Enter: submit,
        c: () => step(1),
        C: () => step(-1),
        n: () => verdict()?.note.focus(),
        e: () => showRaw(!isRaw),
        d: toggleDiff,
        s: skip,
        u: () => act("undo"),
        k: () => act("earlier"),
        ArrowLeft: () => act("earlier"),
        j: forward,
        ArrowRight: forward,
        "?": showKeys,
    };
    for (let key = 1; key <= 9; key += 1) acts[key] = () => choose(String(key));

    const { isTyping } = window.evalhub;
    const isControl = (target) => target.closest("a, button, summary, [type=checkbox]") !== null;

    const escape = (target) => {
        if (closeSkip()) return;
        if (isTyping(target) && askAt(target)) goTo(askAt(target));
        else document.getElementById("review-item")?.focus({ preventScroll: true });
    };

    document.addEventListener("keydown", (event) => {
        const { key, target } = event;
        if (event.isComposing || event.altKey) return;
        if (document.querySelector("dialog[open]")) {
            if (key === "?" && sheet.open) sheet.close();
            return;
        }
        if (event.ctrlKey || event.metaKey) {
            if (key !== "Enter") return;
            event.preventDefault();
            const skipping = target.closest("#review-skip");
            if (skipping) skipping.querySelector("form").requestSubmit();
            else submit();
            return;
        }
        if (key === "Escape") {
            escape(target);
            return;
        }
        if (isTyping(target) || page.hasAttribute("data-keys-off")) return;
        if (key === "Enter" && isControl(target)) return;
        if (key.startsWith("Arrow") && target.matches("[type=radio]")) return;
        const ready = target.closest("#review-skip")?.querySelector(`[data-ready="${CSS.escape(key)}"]`);
        if (ready) {
            event.preventDefault();
            ready.click();
        } else if (acts[key]) {
            event.preventDefault();
            if (!isBusy) acts[key]();
        }
    });

    dress();
    if (page.dataset.focused !== "1") document.getElementById("review-item")?.focus({ preventScroll: true });
})();
