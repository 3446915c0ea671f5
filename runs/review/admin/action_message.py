"""A message about the last action, above the next item."""

from dataclasses import asdict, dataclass
from typing import Any, Self

from django.http import HttpRequest
from django.urls import reverse

from runs.models import Result

SESSION = "review_message"


@dataclass(frozen=True)
class ActionMessage:
    """A message for the reviewer; `undo`: offer to undo the action.

    `evaluation` is the id of one that can be marked as a labelled example, at `example_url`.
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
        return cls(text, link=link, link_text=f"Open result {result.pk}", **more)


def keep(request: HttpRequest, action_message: ActionMessage | None) -> None:
    """Keep the message for the next page, for a browser without scripts."""
    if action_message:
        request.session[SESSION] = asdict(action_message)


def kept(request: HttpRequest) -> ActionMessage | None:
    found = request.session.pop(SESSION, None)
    return ActionMessage(**found) if found else None
