// Moves a card of the first page up or down in the list that is about to be kept.
"use strict";

(() => {
    const MOVES = {
        up: (item) => item.previousElementSibling?.before(item),
        down: (item) => item.nextElementSibling?.after(item),
    };

    document.addEventListener("click", (event) => {
        const button = event.target.closest("[data-eh-move]");
        if (button) {
            MOVES[button.dataset.ehMove](button.closest("li"));
            button.focus();
        }
    });
})();
