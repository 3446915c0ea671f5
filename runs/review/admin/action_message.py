"""What came of an act, in a line above the next item."""

from dataclasses import asdict, dataclass
from typing import Any, Self

from django.http import HttpRequest
from django.urls import reverse

from runs.models import Result

SESSION = "review_told"


@dataclass(frozen=True)
class ActionMessage:
    """A line for the reviewer. `link` leads to what it is about; `undo`: one key takes it back.

    `evaluation` is a verdict that may be marked as an example for judges, at `example_url`.
    """

    text: str
    kind: str = ""
    link: str = ""
    link_text: str = ""
    undo: bool = False
    evaluation: int = 0
    example_url: str = ""

    @classmethod
    def about(cls, result: Result, text: str, **more: Any) -> Self:
        link = reverse("admin:runs_result_change", args=[result.pk])
        return cls(text, link=link, link_text=f"Look at result {result.pk}", **more)


def keep(request: HttpRequest, action_message: ActionMessage | None) -> None:
    """For the page that a browser without scripts is sent to."""
    if action_message:
        request.session[SESSION] = asdict(action_message)


def kept(request: HttpRequest) -> ActionMessage | None:
    found = request.session.pop(SESSION, None)
    return ActionMessage(**found) if found else None
