"use strict";
/* Possible duplicates beside the forms of new issues and feedback, as you type. */

(() => {
    const WAIT_MS = 400;
    const SHORTEST = 8;
    const FIELDS = { issue: ["title", "description"], feedback: ["comment", "prompt"] };

    const start = () => {
        const place = /^(.*\/issues\/)(issue|feedback)\/add\/$/.exec(location.pathname);
        const form = place && document.getElementById(`${place[2]}_form`);
        if (!form) return;
        const fields = FIELDS[place[2]].map((name) => form.querySelector(`[name="${name}"]`)).filter(Boolean);
        if (!fields.length) return;

        const panel = document.createElement("section");
        panel.className = "eh-page tr-beside";
        panel.setAttribute("aria-labelledby", "similar-heading");
        panel.innerHTML = '<div class="eh-panel"><h2 id="similar-heading">Possible duplicates</h2>' +
            '<p class="eh-muted" role="status" aria-live="polite" data-similar-status>' +
            "Similar issues and feedback appear here as you type.</p><div data-similar-found></div></div>";
        const status = panel.querySelector("[data-similar-status]");
        const found = panel.querySelector("[data-similar-found]");
        const last = fields[fields.length - 1];
        (last.closest("fieldset") || last.parentElement).after(panel);

        let asked = 0;
        let timer = 0;
        let before = "";
        const text = () => fields.map((field) => field.value.trim()).join("\n").trim();
        const ask = async () => {
            const said = text();
            if (said === before || said.length < SHORTEST) return;
            before = said;
            const mine = ++asked;
            const body = new FormData();
            body.append("text", said.slice(0, 5000));
            body.append("form", place[2]);
            body.append("csrfmiddlewaretoken", form.querySelector("[name=csrfmiddlewaretoken]").value);
            try {
                const response = await fetch(`${place[1]}feedback/similar/`, { method: "POST", body });
                if (!response.ok) throw new Error(`status ${response.status}`);
                const html = await response.text();
                if (mine !== asked) return;
                found.innerHTML = html;
                const n = found.querySelectorAll("[data-similar]").length;
                status.textContent = n ? `${n} similar:` : "Nothing similar.";
            } catch (error) {
                if (mine === asked) status.textContent = `The search for duplicates failed (${error.message}).`;
                before = "";
            }
        };
        for (const field of fields) {
            field.addEventListener("input", () => {
                clearTimeout(timer);
                timer = setTimeout(ask, WAIT_MS);
            });
        }
        if (text().length >= SHORTEST) ask();

        // A choice fills in a field of the form; nothing is saved until the form is.
        const fill = (name, value, label) => {
            const select = form.querySelector(`select[name="${name}"]`);
            if (!select) return;
            let option = [...select.options].find((one) => one.value === value);
            if (!option) {
                option = new Option(label, value);
                select.append(option);
            }
            option.selected = true;
            if (window.django?.jQuery) window.django.jQuery(select).trigger("change");
            select.dispatchEvent(new Event("change", { bubbles: true }));
            status.textContent = `Filled in: ${label}.`;
        };
        panel.addEventListener("click", (event) => {
            const button = event.target.closest("[data-fill]");
            if (button) fill(button.dataset.fill, button.value, button.dataset.label);
        });
    };

    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
    else start();
})();
