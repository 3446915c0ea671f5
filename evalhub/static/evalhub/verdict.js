"use strict";
/* The form of a verdict and the keys of the pages where answers are read: review, result, dispute,
   pair, Compare. Drafts are kept on the server; saving outlives a lost network and an expired
   session. The pages work without this script too. */

(() => {
    const { isTyping, reviewRequests, draftKeeper, toggleRaw } = window.evalhub;
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
    const isScored = (point) => point.querySelector("[data-key]:checked:enabled") !== null;
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
    // By its own key, such as p, or by its place.
    const optionOf = (point, key) =>
        point?.querySelector(`:is([data-key="${CSS.escape(key)}"], [data-place="${CSS.escape(key)}"]):enabled`);
    const showsOpen = (form) => form.toggleAttribute("data-open", points(form).some(isScored));
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
    /* No letter is a command while a verdict is chosen but not sent, on any page and for any script:
       a reason that was typed beside its field does nothing. */
    document.addEventListener("keydown", (event) => {
        const { key, target, ctrlKey, metaKey, altKey } = event;
        if (!/^\p{L}$/u.test(key) || ctrlKey || metaKey || altKey || isTyping(target)) return;
        const open = document.querySelector("[data-verdict][data-open]");
        if (!open) return;
        event.stopImmediatePropagation();
        const note = open.querySelector("[data-saved]");
        if (note) note.textContent = "Not submitted: press Enter, or the option’s number again to take it back.";
    }, true);

    // Saving

    const save = (form) => {
        const button = form?.querySelector("[data-save]");
        if (button) form.requestSubmit(button);
    };
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
        if (answer?.problems) requests.showTrouble(answer.problems.join(" "));
        else if (answer) done(answer.go, form);
    };

    /* Prepares a form that came with the page or later. done(address, form): what follows a saved
       verdict. A page that sends by itself gives `requests`, `send` and, for drafts, `accept`. */
    const prepare = (form, { done = goOn, requests: own, send: sendOwn, accept = () => true } = {}) => {
        const requests = own ?? reviewRequests(form, form.querySelector("[data-trouble]"));
        const send = sendOwn ?? sendBy(requests, done);
        opened = Date.now();
        visibleMs = 1000 * Number(form.elements.seconds.value || 0);
        const options = [...form.querySelectorAll("[data-key]")];
        const keys = options.map((option) => option.dataset.key);
        const range = keys.length > 3 ? `1 to ${keys.length}` : `${keys.slice(0, -1).join(", ")} or ${keys.at(-1)}`;
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
        showsOpen(form);
        form.addEventListener("input", (event) => {
            showsOpen(form);
            say("");
            if (!form.hasAttribute("data-undrafted")) drafts.touch();
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

    // Keys

    const withinPoint = (root, by) => pointAt(document.activeElement)?.dataset.point ? step(root, by) : false;
    const common = {
        Enter: (root) => save(formAt(root)),
        a: (root) => root.querySelector("[data-agree]")?.click(),
        c: (root) => step(root, 1),
        C: (root) => step(root, -1),
        ArrowDown: (root) => withinPoint(root, 1),
        ArrowUp: (root) => withinPoint(root, -1),
        e: toggleRaw,
        u: (root) => (formAt(root)?.querySelector("[data-undo]") ?? root.querySelector(".rn-saved [data-undo]"))?.click(),
        j: (root) => root.querySelector("a[data-next]")?.click(),
        k: (root) => root.querySelector("a[data-previous]")?.click(),
    };
    const leave = (target) => {
        const point = isTyping(target) && pointAt(target);
        if (point) goTo(point);
        else target.blur();
    };
    /* A key pressed on a page: options first, then `own` commands of the page, then what all have.
       One that returns false has done nothing. Keys in a form's text fields are the form's own. */
    const press = (root, event, own = {}) => {
        const { key, target } = event;
        if (event.isComposing || event.altKey || document.querySelector("dialog[open]")) return;
        const commands = { ...common, ArrowRight: own.j ?? common.j, ArrowLeft: own.k ?? common.k, ...own };
        if (event.ctrlKey || event.metaKey) {
            if (key !== "Enter") return;
            const form = isTyping(target) || target.closest("#review-skip") ? target.closest("form") : formAt(root);
            event.preventDefault();
            if (form?.matches("[data-verdict]")) save(form);
            else form?.requestSubmit();
        } else if (key === "Escape") (own.Escape ?? leave)(target);
        else if (isTyping(target) || root.closest("[data-keys-off]")) return;
        else if (key === "Enter" && target.closest("a, button, summary, [type=checkbox]")) return;
        else if (key.startsWith("Arrow") && target.matches("input")) return;
        else if (choose(root, key) || (Object.hasOwn(commands, key) && commands[key](root) !== false)) event.preventDefault();
    };

    window.evalhub.verdicts = { prepare, press, goTo, pointAt, fieldsOf, draftsOf: (form) => keepers.get(form) };
})();
