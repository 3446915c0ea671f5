"""The keys of the work page, as its sheet prints them; `review.js` has a handler for each."""

from typing import NamedTuple


class Key(NamedTuple):
    """Keys that do the same, and what they do."""

    keys: tuple[str, ...]
    does: str


KEYS = (
    Key(("1", "9"), "choose an option: of the criterion that you are on, or of the whole answer"),
    Key(("Enter",), "submit, and go on to the next item, when you are not typing"),
    Key(("Ctrl Enter",), "submit, also while you are typing (⌘ Enter on a Mac)"),
    Key(("c", "C"), "next or previous criterion of the rubric"),
    Key(("n",), "write a note for those who look at it next"),
    Key(("e",), "texts as they are written, or formatted"),
    Key(("d",), "the answer against the reference, word by word"),
    Key(("s",), "skip the item and say why; then 1 to 4 give a ready reason"),
    Key(("u",), "undo: take back what you submitted or skipped last, or the earlier item you see"),
    Key(("k", "←"), "an item that you did earlier"),
    Key(("j", "→"), "on an earlier item: go forward again. On a new one: skip it and say why"),
    Key(("Esc",), "leave the text, or the criterion, or close what is open"),
    Key(("?",), "this sheet"),
)
