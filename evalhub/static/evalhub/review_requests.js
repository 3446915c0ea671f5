"use strict";
/* Requests and drafts of review pages: repeat what is safe to repeat, and explain failures. */

// `page` is a form, or has the address of its acts as data-act.
window.evalhub.reviewRequests = (page, trouble) => {
    const RETRY_MS = [1000, 2000, 4000, 8000, 15000];

    const { token } = window.evalhubEditing;

    class Unreachable extends Error {}
    class LoggedOut extends Error {}
    class Gone extends Error {}

    const request = async (url, { fields, headers, ...options } = {}) => {
        const body = fields && new URLSearchParams(fields);
        body?.delete("csrfmiddlewaretoken");
        const method = body ? "POST" : "GET";
        let answer;
        try {
            answer = await fetch(url, { method, body, headers: { "X-CSRFToken": token(), ...headers }, ...options });
        } catch {
            throw new Unreachable();
        }
        if (answer.redirected || answer.status === 403) throw new LoggedOut();
        if (answer.status === 404) throw new Gone();
        if (!answer.ok) throw new Unreachable();
        return answer;
    };
    const post = async (act, fields, options = {}) => {
        const all = new URLSearchParams(fields);
        all.set("act", act);
        const headers = { Accept: "application/json" };
        return (await request(page.dataset.act ?? page.action, { fields: all, headers, ...options })).json();
    };

    // Time, or the return to this tab, as after logging in in another.
    const wait = (ms) => new Promise((resolve) => {
        setTimeout(resolve, ms);
        window.addEventListener("focus", resolve, { once: true });
    });

    const showTrouble = (...parts) => {
        trouble.replaceChildren(...parts);
        trouble.hidden = false;
    };

    const login = () => {
        const link = document.createElement("a");
        Object.assign(link, { href: location.href, target: "_blank", textContent: "Log in in another tab" });
        return link;
    };

    const showError = (error) => {
        if (error instanceof LoggedOut) {
            showTrouble("You are logged out, or may no longer do this. What you typed is kept on this page. ", login(), "; then continue here.");
        } else if (error instanceof Gone) {
            showTrouble("This was deleted or closed meanwhile. Copy what you need of your text, then reload the page.");
        } else if (error instanceof Unreachable) {
            showTrouble("Cannot reach the server. What you typed is kept on this page; retrying automatically.");
        } else {
            throw error;
        }
    };

    // The answer; after showing why there is none, null, or undefined if there never will be.
    const attemptTo = async (send) => {
        try {
            const answer = await send();
            trouble.hidden = true;
            return answer;
        } catch (error) {
            showError(error);
            return error instanceof Gone ? undefined : null;
        }
    };

    // Repeat a safe request until it succeeds, with the form as it is then.
    const repeat = async (send) => {
        for (let tries = 0; ; tries += 1) {
            const answer = await attemptTo(send);
            if (answer !== null) return answer;
            await wait(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]);
        }
    };

    const attempt = (act, fields) => attemptTo(() => post(act, fields));
    const retry = (act, fieldsNow) => repeat(() => post(act, fieldsNow()));
    return { request, post, attempt, attemptTo, retry, repeat, showTrouble };
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
