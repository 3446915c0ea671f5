// Loads what a report page left to be computed, and puts it in the page's place.
"use strict";

(() => {
    const report = document.getElementById("report");

    const load = async () => {
        const url = new URL(window.location.href);
        url.searchParams.set("compute", "1");
        const answer = await fetch(url, { credentials: "same-origin" });
        if (!answer.ok) {
            throw new Error(answer.status);
        }
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        report.innerHTML = page.getElementById("report").innerHTML;
        report.dataset.pending = "0";
        report.dispatchEvent(new CustomEvent("evalhub:refreshed", { bubbles: true }));
    };

    const complain = () => {
        const note = document.getElementById("report-pending");
        note.classList.add("eh-callout--warning");
        note.firstChild.textContent = "This could not be computed just now. ";
    };

    if (report && report.dataset.pending === "1") {
        load().catch(complain);
    }
})();
