"""Keyboard shortcuts of the work page; `review.js` handles each."""

from typing import NamedTuple


class Shortcut(NamedTuple):
    """Keys with the same action."""

    keys: tuple[str, ...]
    action: str


SHORTCUTS = (
    Shortcut(("1", "9"), "choose an option, for the selected criterion or the whole answer"),
    Shortcut(("Enter",), "submit and go to the next item, when not typing"),
    Shortcut(("Ctrl Enter",), "submit, also while typing (⌘ Enter on a Mac)"),
    Shortcut(("c", "C"), "next or previous criterion"),
    Shortcut(("n",), "write a note for the next reviewer"),
    Shortcut(("e",), "switch between raw and formatted text"),
    Shortcut(("d",), "compare answer and reference word by word"),
    Shortcut(("s",), "skip the item; then 1 to 4 choose a reason"),
    Shortcut(("u",), "undo your last submission or skip, or reopen the submitted item shown"),
    Shortcut(("k", "←"), "previous item"),
    Shortcut(("j", "→"), "next item; on an open item, skip it"),
    Shortcut(("Esc",), "leave the text field or criterion, or close the dialog"),
    Shortcut(("?",), "show these shortcuts"),
)
