"use strict";
/* A file field with a drop zone. */

(() => {
    for (const place of document.querySelectorAll("[data-drop]")) {
        const field = place.querySelector("input[type=file]");
        const mark = (event, isOver) => {
            event.preventDefault();
            place.classList.toggle("tr-drop--over", isOver);
        };
        place.addEventListener("dragover", (event) => mark(event, true));
        place.addEventListener("dragleave", (event) => mark(event, false));
        place.addEventListener("drop", (event) => {
            mark(event, false);
            if (event.dataTransfer.files.length) field.files = event.dataTransfer.files;
        });
    }
})();
