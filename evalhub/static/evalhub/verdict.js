"use strict";
/* The form of a verdict, on whichever page: keys, drafts on the server, and saving that outlives
   a lost network and an expired session. It works without this script too. */

(() => {
    const { reviewRequests, draftKeeper } = window.evalhub;
    const keepers = new WeakMap();

    // Seconds for which the page was visible

    let opened = Date.now();
    let visibleMs = 0;
    const seconds = () => {
        if (!document.hidden) visibleMs += Date.now() - opened;
        opened = Date.now();
        return Math.round(visibleMs / 1000);
    };
    const fieldsOf = (form, submitter) => {
        const fields = new FormData(form, submitter);
        fields.set("seconds", seconds());
        return fields;
    };

    // Points: criteria, or the answer as a whole

    const points = (root) => [...root.querySelectorAll("[data-point]")];
    const criteria = (root) => points(root).filter((point) => point.dataset.point);
    const pointAt = (element) => element?.closest("[data-point]")
        ?? element?.closest("[data-criterion]")?.querySelector("[data-point]");
    const isScored = (point) => point.querySelector("[data-key]:checked") !== null;
    const here = (root) => pointAt(document.activeElement)
        ?? points(root).find((point) => !point.dataset.point)
        ?? criteria(root).find((point) => !isScored(point)) ?? criteria(root)[0];
    const formAt = (root) => here(root)?.form;

    const goTo = (point) => {
        for (let at = point.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
        point.focus({ preventScroll: true });
        point.scrollIntoView({ block: "nearest" });
    };
    const step = (root, by) => {
        const all = criteria(root);
        const at = all.indexOf(pointAt(document.activeElement));
        const wanted = at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by;
        if (all[wanted]) goTo(all[wanted]);
    };
    // The field of the reason that is still missing, if any
    const checkReason = (point) => {
        const needed = point.querySelector("[data-reason]:checked") !== null;
        const reason = point.querySelector("textarea");
        reason.setAttribute("aria-required", String(needed));
        point.toggleAttribute("data-needs-reason", needed);
        return needed && !reason.value.trim() ? reason : null;
    };
    const optionOf = (point, key) => point?.querySelector(`[data-key="${CSS.escape(key)}"]:enabled`);
    const nextUnscored = (point) => {
        const all = criteria(point.form);
        return point.dataset.point && all.slice(all.indexOf(point) + 1).find((each) => !isScored(each));
    };
    // After a verdict the cursor is in its reason, or at the next criterion if no reason is needed.
    const choose = (root, key) => {
        const point = here(root);
        const option = optionOf(point, key);
        if (!option) return false;
        const reason = point.querySelector("textarea");
        const isTakenBack = option.checked && !(option.required && reason.value.trim());
        option.checked = !isTakenBack;
        option.dispatchEvent(new Event("input", { bubbles: true }));
        const next = !isTakenBack && !option.required && !checkReason(point) && nextUnscored(point);
        goTo(next || point);
        if (!isTakenBack && !next) reason.focus();
        return true;
    };
    /* Letters are no commands while a verdict is chosen but not sent, so that a reason that was typed
       beside its field does nothing; options named by letters are, and steps between criteria. */
    const ignores = (root, { key }) => {
        const open = root.querySelector("[data-verdict][data-open]");
        if (!open || !/^\p{L}$/u.test(key) || optionOf(here(root), key)) return false;
        if (/^c$/i.test(key) && criteria(root).length) return false;
        const note = open.querySelector("[data-saved]");
        if (note) note.textContent = "Not submitted: press Enter, or the option’s key again to take it back.";
        return true;
    };

    // Saving

    const save = (form) => form?.requestSubmit(form.querySelector("[data-save]"));
    const agree = (root) => root.querySelector("[data-agree]")?.click();
    // The address may be this page's with another criterion, which alone would load nothing.
    const goOn = (address) => {
        const url = new URL(address, location.href);
        const isHere = url.pathname + url.search === location.pathname + location.search;
        if (isHere && url.hash) history.replaceState(null, "", url);
        if (isHere) location.reload();
        else location.assign(url);
    };
    const sendBy = (requests, done) => async (form, submitter) => {
        if (form.dataset.sent) return;
        // One form for all tries: the server knows by its seconds that it has it already.
        const fields = fieldsOf(form, submitter);
        const act = fields.getAll("act").at(-1);
        form.dataset.sent = "1";
        form.setAttribute("aria-busy", "true");
        await keepers.get(form).settle();
        keepers.get(form).forget();
        const answer = act === "undo" ? await requests.attempt(act, fields) : await requests.retry(act, () => fields);
        delete form.dataset.sent;
        form.removeAttribute("aria-busy");
        if (answer) done(answer.go, form);
    };

    /* Prepares a form that came with the page or later. done(address, form): what follows a saved
       verdict. A page that sends by itself gives `requests`, `send` and, for drafts, `accept`. */
    const prepare = (form, { done = goOn, requests: own, send: sendOwn, accept = () => true } = {}) => {
        const requests = own ?? reviewRequests(form, form.querySelector("[data-trouble]"));
        const send = sendOwn ?? sendBy(requests, done);
        opened = Date.now();
        visibleMs = 1000 * Number(form.elements.seconds.value || 0);
        const options = [...form.querySelectorAll("[data-key]")];
        const range = options.length > 2 ? `1 to ${options.length}` : "1 or 2";
        const say = (text) => options.forEach((option) => option.setCustomValidity(text));
        const drafts = draftKeeper(requests, {
            fields: () => fieldsOf(form),
            about: () => form.isConnected && form,
            note: (text) => {
                const note = form.querySelector("[data-saved]");
                if (note) note.textContent = text;
            },
            accept,
        });
        keepers.set(form, drafts);
        points(form).forEach(checkReason);
        form.addEventListener("input", (event) => {
            if (event.target.matches("[data-key]")) form.toggleAttribute("data-open", points(form).some(isScored));
            say("");
            drafts.touch();
            const point = pointAt(event.target);
            if (point) checkReason(point);
        });
        form.addEventListener("invalid", (event) => {
            if (event.target.matches("[data-key]")) say(`Choose ${range} first.`);
        }, true);
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            send(form, event.submitter);
        });
        form.addEventListener("click", (event) => {
            const option = event.pointerType === "mouse" && event.target.closest("label")?.querySelector("[data-key]");
            if (option) setTimeout(() => pointAt(option).querySelector("textarea").focus({ preventScroll: true }));
        });
        form.addEventListener("keydown", (event) => {
            const { key, target } = event;
            if (event.isComposing || event.altKey) return;
            const isOff = form.closest("[data-keys-off]") !== null;
            const isModified = event.ctrlKey || event.metaKey;
            const isPlain = target.matches("[data-point] textarea") && !event.shiftKey && !isOff && !isModified;
            const changes = isPlain && !target.value && /^[1-9]$/.test(key) && optionOf(pointAt(target), key);
            if (!changes && !(key === "Enter" && (isPlain || isModified))) return;
            event.preventDefault();
            event.stopPropagation();
            if (changes) choose(form, key);
            else if (isPlain && nextUnscored(pointAt(target))) goTo(nextUnscored(pointAt(target)));
            else save(form);
        });
    };
    // After Back, a form that was sent can be sent again.
    window.addEventListener("pageshow", () => {
        for (const form of document.querySelectorAll("[data-verdict][data-sent]")) delete form.dataset.sent;
    });
    document.addEventListener("visibilitychange", () => {
        if (document.hidden) visibleMs += Date.now() - opened;
        opened = Date.now();
    });

    /* A key pressed outside of text fields, of the forms in `root`; true if it meant something. */
    const press = (root, { key, target }) => {
        if (key === "Enter") {
            if (target.closest("a, button, summary, [type=checkbox]")) return false;
            save(formAt(root));
        } else if (key === "a") agree(root);
        else if (key === "u") formAt(root)?.querySelector("[data-undo]")?.click();
        else return /^[1-9]$/.test(key) && choose(root, key);
        return true;
    };

    window.evalhub.verdicts = {
        prepare, press, ignores, choose, step, save, agree, goTo, pointAt, formAt, fieldsOf,
        draftsOf: (form) => keepers.get(form),
    };
})();
