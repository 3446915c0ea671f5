"use strict";
/* Requests of the review work page: repeat those that are safe to repeat, and explain failures. */

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
        Object.assign(link, { href: page.dataset.act.replace(/act\/$/, "work/"), target: "_blank", textContent: "Log in in another tab" });
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
