"use strict";
/* The page of a jury: what its judges will be asked follows what is chosen. Without this script it
   is shown when the page is saved. */

document.addEventListener("DOMContentLoaded", () => {
    const section = document.getElementById("jury-asked");
    if (!section) return;
    const panel = section.querySelector("[data-asked]");
    const form = section.closest("form");
    let timer = 0;
    let asked = 0;
    const show = async () => {
        const mine = ++asked;
        panel.setAttribute("aria-busy", "true");
        try {
            const response = await fetch(section.dataset.address, {
                method: "POST",
                body: new FormData(form),
                headers: { "X-Requested-With": "fetch" },
            });
            const html = response.ok ? await response.text() : "";
            if (mine === asked && html) panel.innerHTML = html;
        } finally {
            if (mine === asked) panel.removeAttribute("aria-busy");
        }
    };
    form.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(show, 300);
    });
});
