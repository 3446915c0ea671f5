// Behaviour shared by all pages; every page can be read without it.
"use strict";

(() => {
    // Attributes of htmx hold no code, and what it loads runs none.
    htmx.config.allowEval = false;
    htmx.config.allowScriptTags = false;

    const TEXT_FIELD = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])";
    const isTyping = (target) => target.closest(TEXT_FIELD) !== null;

    // A key without modifiers that belongs to no text field and no open dialog.
    const isPageKey = (event) =>
        !event.ctrlKey && !event.metaKey && !event.altKey &&
        !isTyping(event.target) && document.querySelector("dialog[open]") === null;

    // A button with data-eh-dialog="id" opens the dialog with that id; data-eh-close closes its own.
    document.addEventListener("click", (event) => {
        const opener = event.target.closest("[data-eh-dialog]");
        if (opener) {
            document.getElementById(opener.dataset.ehDialog).showModal();
        } else if (event.target.closest("[data-eh-close]")) {
            event.target.closest("dialog").close();
        } else if (event.target.closest("[data-eh-print]")) {
            window.print();
        }
    });

    // A button with data-confirm sends its form once its question is answered with yes.
    document.addEventListener("submit", (event) => {
        const question = event.submitter?.dataset.confirm;
        if (!question || window.confirm(question)) return;
        event.preventDefault();
        event.stopImmediatePropagation();
    }, true);

    // A menu closes when something else is clicked, or by Escape, which gives its button the focus.
    document.addEventListener("click", (event) => {
        for (const menu of document.querySelectorAll(".eh-menu[open]")) {
            menu.open = menu.contains(event.target) && !event.target.closest("[data-eh-print]");
        }
    });
    document.addEventListener("keydown", (event) => {
        const menu = event.key === "Escape" ? document.querySelector(".eh-menu[open]") : null;
        if (menu) {
            menu.open = false;
            menu.querySelector("summary").focus();
        }
    });

    // A tab whose rows could not be read says so; its button reads them again. A page that the
    // answer was led to, such as the login, holds no rows.
    const showFailure = (event, hasFailed) => {
        const tab = event.target.closest("[data-eh-later]");
        if (!tab) return;
        tab.querySelector("[data-eh-failed]")?.toggleAttribute("hidden", !hasFailed);
        tab.querySelector("[role=status]")?.toggleAttribute("hidden", hasFailed);
    };
    for (const failure of ["htmx:responseError", "htmx:sendError"]) {
        document.addEventListener(failure, (event) => showFailure(event, true));
    }
    document.addEventListener("htmx:beforeRequest", (event) => showFailure(event, false));
    document.addEventListener("htmx:beforeSwap", (event) => {
        const { elt, xhr, pathInfo } = event.detail;
        const path = (address) => new URL(address, location.href).pathname;
        if (!elt.closest("[data-eh-later]") || path(xhr.responseURL) === path(pathInfo.finalRequestPath)) return;
        event.detail.shouldSwap = false;
        showFailure({ target: elt }, true);
    });

    // A search that failed while one typed is made by its form.
    for (const failure of ["htmx:responseError", "htmx:sendError"]) {
        document.addEventListener(failure, ({ target }) => target.matches("form[role=search] [type=search]") && target.form.requestSubmit());
    }

    // Opens what an address gives in a row below the control's own, or closes it again.
    const toggleBelow = (control, address) => {
        const row = control.closest("tr");
        const isOpen = control.getAttribute("aria-expanded") === "true";
        control.setAttribute("aria-expanded", String(!isOpen));
        if (isOpen) {
            row.nextElementSibling.remove();
            return;
        }
        row.insertAdjacentHTML("afterend", `<tr class="eh-inside"><td colspan="${row.cells.length}" data-eh-later>
            <p class="eh-callout eh-callout--error" role="alert" data-eh-failed hidden>This could not be loaded. Close and open it to try again.</p>
            <p role="status">Loading…</p></td></tr>`);
        const [cell] = row.nextElementSibling.cells;
        htmx.ajax("GET", address, { source: cell, target: cell }).catch(() => undefined);
    };

    // A button of a conflict puts their value, or the reader's own, into the form.
    document.addEventListener("click", (event) => {
        const button = event.target.closest("[data-eh-take]");
        if (!button) return;
        const conflict = button.closest("[data-eh-conflict]");
        const { name, ...either } = JSON.parse(conflict.querySelector("script").textContent);
        const values = either[button.dataset.ehTake];
        for (const field of document.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
            if (field.matches("[type=radio]")) field.checked = values.includes(field.value);
            else if (field.matches("[type=checkbox]")) field.checked = values.includes(field.value) || values.includes("on");
            else if (field.matches("select")) for (const option of field.options) option.selected = values.includes(option.value);
            else field.value = values.join("\n");
            field.dispatchEvent(new Event("input", { bubbles: true }));
            field.dispatchEvent(new Event("change", { bubbles: true }));
        }
        conflict.querySelector("[data-eh-taken]").textContent = `the form now holds ${button.dataset.ehTake === "theirs" ? "their" : "your"} text`;
    });

    // The labels that lists show in narrow windows begin with a capital, as their headers do.
    document.addEventListener("DOMContentLoaded", () => {
        for (const cell of document.querySelectorAll("#result_list [data-label]")) {
            cell.dataset.label = cell.dataset.label.replace(/^./u, (first) => first.toUpperCase());
        }
    });

    // Icons are words of a font, which nobody should hear; keys are announced apart from names.
    const KEY_NAMES = { "→": "ArrowRight", "←": "ArrowLeft", "Ctrl Enter": "Control+Enter" };
    const shortcutOf = (label) => KEY_NAMES[label] ?? (/^[A-Z]$/u.test(label) ? `Shift+${label}` : label);
    const quieten = (root) => {
        for (const icon of root.querySelectorAll("span.material-symbols-outlined")) {
            const control = icon.closest("a, button");
            const isAll = control?.textContent.trim() === icon.textContent.trim();
            if (isAll && !control.ariaLabel && !control.title) {
                control.ariaLabel = icon.textContent.trim().replaceAll("_", " ");
            }
            icon.setAttribute("aria-hidden", "true");
        }
        for (const key of root.querySelectorAll(":is(a, button) > .eh-key:not([aria-hidden])")) {
            key.setAttribute("aria-hidden", "true");
            key.parentElement.setAttribute("aria-keyshortcuts", shortcutOf(key.textContent.trim()));
        }
    };
    document.addEventListener("DOMContentLoaded", () => {
        quieten(document);
        // Pages replace parts of themselves.
        new MutationObserver((changes) => {
            for (const change of changes) if (change.addedNodes.length) quieten(change.target);
        }).observe(document.body, { childList: true, subtree: true });
    });

    // Forms that add something begin in their first empty field.
    const beginInFirstField = () => {
        const name = document.getElementById("django-admin-form-add-constants")?.dataset.modelName;
        if (name && document.activeElement === document.body) {
            const fields = document.querySelectorAll(`#${name}_form :is(input[type=text], textarea, select)`);
            const first = [...fields].find((field) => !field.value && field.offsetParent);
            (first?.parentElement.querySelector(".select2-selection") ?? first)?.focus();
        }
    };
    window.addEventListener("load", () => window.django?.jQuery?.(() => setTimeout(beginInFirstField)));

    // The key g goes past a long conversation.
    document.addEventListener("keydown", (event) => {
        const isOff = document.getElementById("review-keys-off")?.checked;
        const answer = document.querySelector("article#answer");
        if (event.key === "g" && !isOff && answer && isPageKey(event)) {
            event.preventDefault();
            answer.focus();
        }
    });

    // The key in a button's data-eh-key presses it, or closes the dialog that it opened; a field gets the focus.
    document.addEventListener("keydown", (event) => {
        const control = document.querySelector(`[data-eh-key="${CSS.escape(event.key)}"]`);
        const dialog = document.querySelector("dialog[open]");
        if (!control) return;
        if (dialog && dialog.id === control.dataset.ehDialog) dialog.close();
        else if (!isPageKey(event) || control.closest("[data-keys-off]")) return;
        else if (control.matches("input, textarea")) control.focus();
        else control.click();
        event.preventDefault();
    });

    // A field with data-eh-submit sends its form when it changes.
    document.addEventListener("change", (event) => {
        if (event.target.matches("[data-eh-submit]")) {
            event.target.form.requestSubmit();
        }
    });

    // A menu with data-eh-submit-closed sends its form when it is closed, if anything changed in it.
    const contents = (form) => new URLSearchParams(new FormData(form)).toString();
    document.addEventListener("toggle", ({ target }) => {
        const form = target.matches?.("[data-eh-submit-closed]") ? target.closest("form") : null;
        if (!form) {
            return;
        }
        if (target.open) {
            target.dataset.before = contents(form);
        } else if (target.dataset.before !== contents(form)) {
            form.requestSubmit();
        }
    }, true);

    // A form is sent once, however often its button is pressed.
    document.addEventListener("submit", (event) => {
        if (event.target.matches("form[data-eh-once]")) {
            event.target.querySelectorAll("button").forEach((button) => {
                setTimeout(() => { button.disabled = true; });
            });
        }
    });

    // The theme writes a chosen file's name into a text field that our file fields do not have.
    document.addEventListener("DOMContentLoaded", () => {
        document.querySelectorAll("input[type=file].eh-input").forEach((field) => { field.hasChangeListener = true; });
    });

    // The admin's select widgets have no labels of their own: take those of their fields.
    const name = (choosers) => {
        for (const chooser of choosers) {
            const field = chooser.previousElementSibling;
            const label = field?.labels?.[0]?.textContent.replace("*", "").trim() || field?.getAttribute("aria-label");
            const parts = chooser.querySelectorAll("[role=combobox], [role=textbox], .select2-search__field");
            for (const part of label ? parts : []) part.setAttribute("aria-label", label);
        }
    };
    const nameAll = () => name(document.querySelectorAll(".select2-container"));
    window.addEventListener("load", () => window.django?.jQuery?.(() => setTimeout(nameAll)));
    document.addEventListener("formset:added", () => setTimeout(nameAll));

    // The admin theme reads the system's colour scheme once; open pages follow its changes.
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (scheme) => {
        const chosen = JSON.parse(localStorage.getItem("adminTheme") || '"auto"');
        if (chosen === "auto") {
            document.documentElement.classList.toggle("dark", scheme.matches);
        }
    });

    // Print in the light theme, with what is folded.
    let wasDark = false;
    let folded = [];
    window.addEventListener("beforeprint", () => {
        folded = [...document.querySelectorAll(".eh-more:not([open], .eh-no-print)")];
        for (const part of folded) part.open = true;
        wasDark = document.documentElement.classList.contains("dark");
        document.documentElement.classList.remove("dark");
    });
    window.addEventListener("afterprint", () => {
        for (const part of folded) part.open = false;
        document.documentElement.classList.toggle("dark", wasDark);
    });

    // Show the texts of models as they were sent, or rendered.
    let isRaw = false;
    const showRaw = () => {
        for (const raw of document.querySelectorAll("[data-raw]")) raw.hidden = !isRaw;
        for (const html of document.querySelectorAll("[data-formatted]")) html.hidden = isRaw;
        for (const toggle of document.querySelectorAll("[data-raw-toggle]")) toggle.hidden = false;
        const label = isRaw ? "Show formatted" : "Show raw text";
        for (const shown of document.querySelectorAll("[data-raw-label]")) shown.textContent = label;
    };
    const toggleRaw = () => {
        isRaw = !isRaw;
        showRaw();
    };
    document.addEventListener("click", (event) => event.target.closest("[data-raw-toggle]") && toggleRaw());
    document.addEventListener("DOMContentLoaded", showRaw);

    window.evalhub = { isPageKey, isTyping, showRaw, toggleBelow, toggleRaw };
})();
