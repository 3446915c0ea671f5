"use strict";
/* Requests and drafts of forms for a verdict: repeat what is safe to repeat, and explain failures. */

window.evalhub.reviewRequests = (page, trouble) => {
    const RETRY_MS = [1000, 2000, 4000, 8000, 15000];

    // Logging in elsewhere makes a new token, so read it for each request.
    const token = () => /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1]
        ?? page.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";

    class Unreachable extends Error {}
    class LoggedOut extends Error {}

    const post = async (act, fields, options = {}) => {
        const body = new URLSearchParams(fields);
        body.delete("csrfmiddlewaretoken");
        body.set("act", act);
        const headers = { Accept: "application/json", "X-CSRFToken": token() };
        let answer;
        try {
            answer = await fetch(page.dataset.act, { method: "POST", body, headers, ...options });
        } catch {
            throw new Unreachable();
        }
        if (answer.redirected || answer.status === 403) throw new LoggedOut();
        if (!answer.ok) throw new Unreachable();
        return answer.json();
    };

    const wait = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

    const showTrouble = (...parts) => {
        trouble.replaceChildren(...parts);
        trouble.hidden = false;
    };

    const login = () => {
        const link = document.createElement("a");
        Object.assign(link, { href: page.dataset.login, target: "_blank", textContent: "Log in in another tab" });
        return link;
    };

    const showError = (error) => {
        if (error instanceof LoggedOut) {
            showTrouble("You are logged out, or may no longer review here. Your draft is kept on this page. ", login(), "; then continue here.");
        } else if (error instanceof Unreachable) {
            showTrouble("Cannot reach the server. Your draft is kept on this page; retrying automatically.");
        } else {
            throw error;
        }
    };

    // The answer, or null after showing why there is none.
    const attempt = async (act, fields) => {
        try {
            const answer = await post(act, fields);
            trouble.hidden = true;
            return answer;
        } catch (error) {
            showError(error);
            return null;
        }
    };

    // Repeat a safe request until it succeeds, with the form as it is then.
    const retry = async (act, fieldsNow) => {
        for (let tries = 0; ; tries += 1) {
            const answer = await attempt(act, fieldsNow());
            if (answer) return answer;
            await wait(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]);
        }
    };

    return { post, attempt, retry, showTrouble };
};

/* Keeps on the server what is being typed.
   fields(): the form now; about(): its item, whose later answers count; note(text): says what is kept;
   accept(answer): false after it dealt with an answer that kept nothing. */
window.evalhub.draftKeeper = ({ post, attempt }, { fields, about, note, accept }) => {
    const DRAFT_MS = 400;
    const RETRY_MS = 4000;
    let timer = 0;
    let isDirty = false;
    let saving = Promise.resolve();

    const save = () => {
        clearTimeout(timer);
        if (!isDirty) return saving;
        isDirty = false;
        const [sent, item] = [fields(), about()];
        saving = saving.then(async () => {
            const answer = await attempt("draft", sent);
            if (item !== about()) return;
            if (!answer) {
                isDirty = true;
                timer = setTimeout(save, RETRY_MS);
            } else if (accept(answer)) note("draft saved");
        });
        return saving;
    };
    const touch = () => {
        isDirty = true;
        note("…");
        clearTimeout(timer);
        timer = setTimeout(save, DRAFT_MS);
    };
    const leave = () => {
        if (!isDirty) return;
        isDirty = false;
        post("draft", fields(), { keepalive: true }).catch(() => { isDirty = true; });
    };
    const forget = () => {
        clearTimeout(timer);
        isDirty = false;
    };
    // Wait for a draft on its way; nothing more is sent until the next input.
    const settle = () => {
        clearTimeout(timer);
        return saving;
    };
    window.addEventListener("pagehide", leave);
    return { save, touch, leave, forget, settle };
};
