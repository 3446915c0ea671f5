"use strict";
/* A suggestion beside a form fills in a field of it; nothing is saved until the form is. */

document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-fill]");
    if (!button) return;
    const { fill, label } = button.dataset;
    const select = button.form.elements[fill];
    let option = [...select.options].find((one) => one.value === button.value);
    if (!option) {
        option = new Option(label, button.value);
        select.append(option);
    }
    option.selected = true;
    window.django?.jQuery?.(select).trigger("change");
    select.dispatchEvent(new Event("change", { bubbles: true }));
    document.getElementById("similar-status").textContent = `Filled in: ${label}.`;
});
