"use strict";
/* The launch form: search in lists, added rows, and a suite's defaults. Without this script, buttons
   do the same through the server. */

(() => {
    const form = document.getElementById("launch-form");
    if (!form) return;
    const panel = document.getElementById("estimate");
    const typed = () => form.dispatchEvent(new Event("input"));

    // Lists to choose from

    const ready = (picker) => {
        const rows = [...picker.querySelectorAll(".rn-pick")];
        const find = picker.querySelector("[data-picker-find]");
        const shown = () => rows.filter((row) => !row.hidden);
        const count = () => {
            const chosen = rows.filter((row) => row.querySelector("input").checked).length;
            picker.querySelector("[data-picker-count]").textContent = chosen ? `${chosen} chosen` : "";
        };
        const choose = (some, checked) => {
            for (const row of some) row.querySelector("input").checked = checked;
            count();
            typed();
        };
        const button = (name, act) => {
            const found = picker.querySelector(`[data-picker-${name}]`);
            if (!found) return;
            found.hidden = false;
            found.addEventListener("click", act);
        };
        if (find) {
            find.hidden = false;
            find.addEventListener("input", (event) => {
                event.stopPropagation();
                const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
                for (const row of rows) {
                    const text = row.textContent.toLowerCase();
                    row.hidden = !words.every((word) => text.includes(word));
                }
            });
            find.addEventListener("keydown", (event) => {
                if (event.key === "Enter") event.preventDefault();
            });
        }
        button("all", () => choose(shown(), true));
        button("none", () => choose(rows, false));
        picker.addEventListener("input", count);
        count();
    };

    // Rows that can be added and removed

    const refresh = (group) => {
        const rows = group.querySelectorAll("[data-row]");
        for (const row of rows) row.querySelector("[data-remove]").hidden = rows.length === 1;
    };
    const grow = (group) => {
        refresh(group);
        group.querySelector("[data-add]").addEventListener("click", (event) => {
            event.preventDefault();
            const last = [...group.querySelectorAll("[data-row]")].at(-1);
            const row = last.cloneNode(true);
            for (const field of row.querySelectorAll("input, textarea")) field.value = "";
            last.after(row);
            refresh(group);
            row.querySelector("input, textarea").focus();
        });
        group.addEventListener("click", (event) => {
            const remove = event.target.closest("[data-remove]");
            if (!remove) return;
            remove.closest("[data-row]").remove();
            refresh(group);
            typed();
        });
    };

    const usual = JSON.parse(document.getElementById("usual-types").textContent);
    form.addEventListener("change", (event) => {
        const type = usual[event.target.name === "param_name" && event.target.value];
        if (type) event.target.closest("[data-row]").querySelector("select").value = type;
    });

    // The steps, from the page or with a suite's defaults

    const enliven = () => {
        for (const picker of form.querySelectorAll("[data-picker]")) ready(picker);
        for (const add of form.querySelectorAll("[data-add]")) grow(add.closest("fieldset"));
        for (const button of form.querySelectorAll("[data-no-script]")) button.hidden = true;
    };
    enliven();

    form.addEventListener("change", ({ target }) => {
        if (target.selectedOptions?.[0].dataset.hasDefaults !== undefined) htmx.trigger(target, "fill-in");
    });
    form.addEventListener("htmx:load", ({ target }) => target.matches(".rn-steps") && enliven());

    // The estimate, which htmx fetches

    panel.addEventListener("htmx:beforeSwap", () => {
        const open = panel.querySelector("details")?.open;
        panel.addEventListener("htmx:afterSwap", () => {
            panel.querySelector("details").open = Boolean(open);
        }, { once: true });
    });
    for (const failure of ["htmx:responseError", "htmx:sendError"]) {
        panel.addEventListener(failure, () => {
            panel.querySelector("h2").textContent = "Estimate (outdated: the server did not respond)";
        });
    }

    // Enter in a field does not launch

    form.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
    });
    document.getElementById("problems")?.scrollIntoView({ block: "center" });
})();
