"use strict";
/* Keyboard shortcuts of the result page, which works without them too. */

(() => {
    const page = document.getElementById("result-page");
    if (!page) return;
    const whole = document.getElementById("evaluation");
    const keys = document.getElementById("keys");
    const opened = Date.now();
    const { isTyping, showRaw } = window.evalhub;

    const follow = (name) => page.querySelector(`a[data-${name}]`)?.click();

    // Raw and formatted text

    let isRaw = false;
    const toggle = page.querySelector("[data-raw-toggle]");
    const toggleRaw = () => {
        isRaw = !isRaw;
        showRaw(page, isRaw);
    };
    if (toggle) {
        toggle.hidden = false;
        toggle.addEventListener("click", toggleRaw);
    }

    // Keyboard shortcuts

    const sheet = page.querySelector("[data-keys]");
    sheet.hidden = false;
    const showKeys = () => (keys.open ? keys.close() : keys.showModal());
    sheet.addEventListener("click", showKeys);

    // The rubric

    const criteria = [...page.querySelectorAll("[data-criterion]")];
    const criterionAt = (element) => element?.closest("[data-criterion]");
    const goTo = (criterion) => {
        criterion.open = true;
        criterion.querySelector("summary").focus();
        criterion.scrollIntoView({ block: "nearest" });
    };
    const step = (by) => {
        const here = criteria.indexOf(criterionAt(document.activeElement));
        const wanted = here < 0 ? (by > 0 ? 0 : criteria.length - 1) : here + by;
        if (criteria[wanted]) goTo(criteria[wanted]);
    };
    const openAll = page.querySelector("[data-open-all]");
    if (openAll && criteria.length > 1) {
        openAll.hidden = false;
        openAll.addEventListener("click", () => {
            const isOpen = criteria.every((criterion) => criterion.open);
            for (const criterion of criteria) criterion.open = !isOpen;
            openAll.textContent = isOpen ? "Open all" : "Close all";
        });
    }
    const openNamed = () => {
        const named = location.hash && document.getElementById(location.hash.slice(1));
        const criterion = named && named.querySelector("[data-criterion]");
        if (criterion) criterion.open = true;
    };
    window.addEventListener("hashchange", openNamed);
    openNamed();

    // The verdict: on the selected criterion, else on the whole

    const formAt = (element) => {
        const criterion = criterionAt(element);
        return criterion ? criterion.querySelector("[data-verdict]") : whole;
    };
    const choose = (key) => {
        const form = formAt(document.activeElement);
        const option = form?.querySelector(`[data-key="${key}"]`);
        if (!option) return false;
        const own = form.closest("[data-own]");
        if (own) own.open = true;
        option.checked = true;
        option.dispatchEvent(new Event("input", { bubbles: true }));
        option.dispatchEvent(new Event("change", { bubbles: true }));
        form.justification.focus();
        return true;
    };
    const save = (form) => form.requestSubmit(form.querySelector('[value="save"]'));
    const trouble = document.getElementById("result-trouble");
    const requests = window.evalhub.reviewRequests(page, trouble);

    // The address may be this page's with another criterion, which alone would load nothing.
    const goOn = (address) => {
        const url = new URL(address, location.href);
        const isHere = url.pathname + url.search === location.pathname + location.search;
        if (isHere && url.hash) history.replaceState(null, "", url);
        if (isHere) location.reload();
        else location.assign(url);
    };
    const send = async (form, submitter, drafts) => {
        const fields = new FormData(form, submitter);
        fields.set("seconds", Math.round((Date.now() - opened) / 1000));
        fields.delete("act");
        form.dataset.sent = "1";
        form.setAttribute("aria-busy", "true");
        await drafts.settle();
        drafts.forget();
        const answer = await requests.retry("save", () => fields);
        if (answer) return goOn(answer.go);
        delete form.dataset.sent;
        return form.removeAttribute("aria-busy");
    };
    const prepare = (form) => {
        const options = [...form.querySelectorAll("[data-key]")];
        const range = options.length > 2 ? `1 to ${options.length}` : "1 or 2";
        const say = (text) => options.forEach((option) => option.setCustomValidity(text));
        form.addEventListener("change", () => say(""));
        form.addEventListener("invalid", (event) => {
            if (event.target.matches("[data-key]")) say(`Choose ${range} first.`);
        }, true);
        const drafts = window.evalhub.draftKeeper(requests, {
            fields: () => new FormData(form),
            about: () => form,
            note: (text) => { form.querySelector("[data-saved]").textContent = text; },
            accept: () => true,
        });
        form.addEventListener("input", drafts.touch);
        form.addEventListener("submit", (event) => {
            if (event.submitter?.value === "undo") return;
            event.preventDefault();
            if (!form.dataset.sent) send(form, event.submitter, drafts);
        });
    };
    const forms = page.querySelectorAll("[data-verdict]");
    forms.forEach(prepare);
    window.addEventListener("pageshow", () => forms.forEach((form) => delete form.dataset.sent));
    const undo = () => {
        const criterion = criterionAt(document.activeElement);
        (criterion ?? page).querySelector(criterion ? "[data-undo-criterion]" : "[data-undo]")?.click();
    };

    // Keys

    const isControl = (target) => target.closest("a, button, summary, [type=checkbox]");

    const whileTyping = (event) => {
        const form = event.target.closest("[data-verdict]");
        if (event.key === "Escape") event.target.blur();
        else if (event.key === "Enter" && !event.shiftKey && form) {
            event.preventDefault();
            save(form);
        } else if (event.key === "Enter" && event.ctrlKey) {
            event.target.form?.requestSubmit();
        }
    };

    const acts = {
        j: () => follow("next"),
        ArrowRight: () => follow("next"),
        k: () => follow("previous"),
        ArrowLeft: () => follow("previous"),
        a: () => whole?.querySelector("[data-agree]")?.click(),
        e: toggleRaw,
        c: () => step(1),
        C: () => step(-1),
        Escape: () => document.activeElement?.blur(),
        u: undo,
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
            const form = formAt(event.target);
            if (form && !isControl(event.target)) {
                event.preventDefault();
                save(form);
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
