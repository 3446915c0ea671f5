"use strict";
/* Issue board: cards move by key, dragging or arrows. Filters and links work without this script. */

(() => {
    const board = document.getElementById("board");
    if (!board) return;
    const { element, request } = window.evalhubEditing;
    const said = document.getElementById("board-said");
    const undo = board.querySelector("[data-undo]");
    const mayChange = undo !== null;
    const moved = [];

    const columns = () => [...board.querySelectorAll("[data-column]")];
    const columnOf = (card) => card.closest("[data-column]");
    const cardsOf = (column) => (column.open ? [...column.querySelectorAll("[data-card]")] : []);
    const cardNumbered = (key) => board.querySelector(`[data-card="${key}"]`);

    const say = (text, isProblem = false) => {
        said.textContent = text;
        said.classList.toggle("eh-callout", text !== "");
        said.classList.toggle("eh-callout--warning", isProblem);
    };

    // Focus: one card can be reached by Tab, the arrows go to the others.

    const focusOn = (card) => {
        for (const other of board.querySelectorAll('[data-card][tabindex="0"]')) other.tabIndex = -1;
        if (!card) return;
        card.tabIndex = 0;
        card.focus();
        card.scrollIntoView({ block: "nearest", inline: "nearest" });
    };
    const first = () => columns().flatMap(cardsOf)[0];
    const besides = (card, step) => {
        const filled = columns().filter((column) => cardsOf(column).length);
        const next = filled[filled.indexOf(columnOf(card)) + step];
        if (!next) return null;
        const place = cardsOf(columnOf(card)).indexOf(card);
        return cardsOf(next)[Math.min(place, cardsOf(next).length - 1)];
    };
    const below = (card, step) => {
        const cards = cardsOf(columnOf(card));
        return cards[cards.indexOf(card) + step];
    };

    // Responses of the server

    const count = (column, by) => {
        const shown = column?.querySelector("[data-count]");
        if (!shown) return;
        shown.dataset.count = Number(shown.dataset.count) + by;
        shown.textContent = Number(shown.dataset.count).toLocaleString("en");
    };
    const put = (card, html) => {
        const holder = document.createElement("ul");
        holder.innerHTML = html;
        const fresh = holder.firstElementChild;
        const from = columnOf(card);
        const to = board.querySelector(`[data-column="${fresh.dataset.state}"]`);
        if (from === to) {
            card.replaceWith(fresh);
        } else {
            card.remove();
            to.querySelector("ul").prepend(fresh);
            to.open = true;
            count(from, -1);
            count(to, 1);
        }
        return fresh;
    };
    const send = async (card, fields) => {
        card.setAttribute("aria-busy", "true");
        try {
            return await (await request(board.dataset.url, [["issue", card.dataset.card], ...fields])).json();
        } catch ({ message }) {
            return { problems: [message] };
        } finally {
            card.removeAttribute("aria-busy");
        }
    };
    const show = (card, told) => {
        const fresh = told.card ? put(card, told.card) : card;
        say((told.problems || [told.said]).join(" "), Boolean(told.problems));
        return fresh;
    };

    // Actions

    const ask = (card, told, fields) => {
        const dialog = document.getElementById(`board-${told.ask}`);
        const form = dialog.querySelector("form");
        const problem = form.querySelector("[data-problem]");
        const sentences = form.querySelector("[data-sentences]");
        problem.hidden = true;
        sentences.replaceChildren(...told.sentences.map((text) => element("p", {}, text)));
        form.onsubmit = async (event) => {
            event.preventDefault();
            const more = [...new FormData(form)];
            const answer = await send(card, [...fields, ...more, ["confirmed", "yes"]]);
            const isStale = answer.card && !answer.card.includes(`data-state="${card.dataset.state}"`);
            if (answer.problems && !isStale) {
                problem.textContent = answer.problems.join(" ");
                problem.hidden = false;
                return;
            }
            dialog.close();
            if (!answer.problems) form.reset();
            finish(card, answer);
        };
        dialog.onclose = () => focusOn(cardNumbered(card.dataset.card));
        dialog.showModal();
    };
    const finish = (card, told) => {
        const fresh = show(card, told);
        if (told.can_undo) moved.push(fresh.dataset.card);
        undo.disabled = moved.length === 0;
        focusOn(fresh);
    };
    const move = async (card, to) => {
        if (!mayChange) {
            say("You do not have the right to move issues.", true);
        } else if (!to) {
            say("It cannot move further in that direction.", true);
        } else if (to !== card.dataset.state && !card.hasAttribute("aria-busy")) {
            const fields = [["act", "move"], ["from", card.dataset.state], ["to", to]];
            const told = await send(card, fields);
            if (told.ask) ask(card, told, fields);
            else finish(card, told);
        }
    };
    const assign = async (card) => {
        if (!mayChange) say("You do not have the right to assign issues.", true);
        else focusOn(show(card, await send(card, [["act", "assign"], ["was", card.dataset.assignee]])));
    };
    const takeBack = async () => {
        const card = cardNumbered(moved.pop());
        if (!card) {
            say("No move on this page to undo.", true);
            return;
        }
        finish(card, await send(card, [["act", "undo"]]));
    };
    undo?.addEventListener("click", takeBack);

    board.addEventListener("click", (event) => {
        const button = event.target.closest("[data-step]");
        if (button) move(button.closest("[data-card]"), button.closest("[data-card]").dataset[button.dataset.step]);
    });

    // Keys

    const ARROWS = {
        ArrowUp: (card) => below(card, -1),
        ArrowDown: (card) => below(card, 1),
        ArrowLeft: (card) => besides(card, -1),
        ArrowRight: (card) => besides(card, 1),
    };
    const onCard = (event, card) => {
        const step = { "[": "back", "]": "on" }[event.key]
            || (event.shiftKey && { ArrowLeft: "back", ArrowRight: "on" }[event.key]);
        if (step) move(card, card.dataset[step]);
        else if (ARROWS[event.key]) focusOn(ARROWS[event.key](card) || card);
        else if (event.key === "Enter") card.querySelector("a").click();
        else if (event.key === "a") assign(card);
        else return false;
        return true;
    };
    const anywhere = (event) => {
        if (event.key === "u" && mayChange) takeBack();
        else if (event.key.startsWith("Arrow") && event.target === document.body) focusOn(first());
        else return false;
        return true;
    };
    document.addEventListener("keydown", (event) => {
        if (event.defaultPrevented || !window.evalhub.isPageKey(event)) return;
        const card = event.target.matches("[data-card]") ? event.target : null;
        if ((card && onCard(event, card)) || anywhere(event)) event.preventDefault();
    });

    // Dragging

    let dragged = null;
    board.addEventListener("dragstart", (event) => {
        dragged = event.target.closest?.("[data-card]");
        if (dragged) event.dataTransfer.setData("text/plain", dragged.querySelector("a").href);
    });
    board.addEventListener("dragend", () => {
        dragged = null;
        for (const column of columns()) column.classList.remove("eb-over");
    });
    board.addEventListener("dragover", (event) => {
        const column = event.target.closest("[data-column]");
        if (!dragged || !column) return;
        event.preventDefault();
        for (const other of columns()) other.classList.toggle("eb-over", other === column);
    });
    board.addEventListener("drop", (event) => {
        const column = event.target.closest("[data-column]");
        if (!dragged || !column) return;
        event.preventDefault();
        move(dragged, column.dataset.column);
    });

    const start = first();
    if (start) start.tabIndex = 0;
})();
