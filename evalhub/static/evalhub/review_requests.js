"use strict";
/* Requests of the review work page: repeat those that are safe to repeat, and explain failures. */

window.evalhub.reviewRequests = (page, trouble) => {
    const AGAIN_MS = [1000, 2000, 4000, 8000, 15000];

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

    const complain = (...parts) => {
        trouble.replaceChildren(...parts);
        trouble.hidden = false;
    };
    const calm = () => { trouble.hidden = true; };

    const login = () => {
        const link = document.createElement("a");
        Object.assign(link, { href: page.dataset.act.replace(/act\/$/, "work/"), target: "_blank", textContent: "Log in in another tab" });
        return link;
    };

    const explain = (error) => {
        if (error instanceof LoggedOut) {
            complain("You are logged out, or may no longer review here. Your draft is kept on this page. ", login(), "; then continue here.");
        } else if (error instanceof Unreachable) {
            complain("Cannot reach the server. Your draft is kept on this page; retrying automatically.");
        } else {
            throw error;
        }
    };

    // Repeat a safe request until it succeeds, with the form as it is then.
    const insist = async (act, fieldsNow) => {
        for (let tries = 0; ; tries += 1) {
            try {
                const answer = await post(act, fieldsNow());
                calm();
                return answer;
            } catch (error) {
                explain(error);
                await wait(AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)]);
            }
        }
    };

    return { post, insist, explain, complain, calm };
};
