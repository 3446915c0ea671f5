"""Saving a person's verdict from the result page, and going on to the next result."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evalhub.pages import person, row_number
from evalhub.wording import score
from runs.admin.trail import Trail
from runs.evaluating import Ballot, evaluate, withdraw
from runs.models import ChosenBy, EvaluationKind, Result

LONGEST_S = 24 * 3600


@dataclass(frozen=True)
class Draft:
    """What was typed, so that a refusal loses nothing."""

    act: str = "save"
    criterion: str = ""
    option: str = ""
    justification: str = ""
    settles: bool = False
    seconds: int | None = None
    chosen_by: ChosenBy = ChosenBy.DIRECT
    problems: tuple[str, ...] = ()

    @classmethod
    def read(cls, sent: Mapping[str, str], *, chosen_by: ChosenBy) -> Self:
        seconds = sent.get("seconds", "")
        return cls(
            act=sent.get("act", "save"),
            criterion=sent.get("criterion", ""),
            option=sent.get("option", ""),
            justification=sent.get("justification", ""),
            settles="settles" in sent,
            seconds=min(row_number(seconds), LONGEST_S) if seconds.isdecimal() else None,
            chosen_by=chosen_by,
        )

    def ballot(self) -> Ballot:
        kind = EvaluationKind.ADJUDICATION if self.settles else EvaluationKind.EVALUATION
        return Ballot(
            option=self.option,
            justification=self.justification,
            kind=kind,
            chosen_by=self.chosen_by,
            seconds=self.seconds,
            criterion=self.criterion,
        )


def evaluated(
    request: HttpRequest, result: Result, draft: Draft, trail: Trail
) -> HttpResponse | None:
    """Do what the form says, and go on; None where it was refused, which a message says."""
    if draft.settles and not request.user.has_perm("runs.adjudicate"):
        raise PermissionDenied
    try:
        return (
            _undone(request, result, draft, trail)
            if draft.act == "undo"
            else _saved(request, result, draft, trail)
        )
    except ValidationError as error:
        for message in error.messages:
            messages.error(request, message)
        return None


def _saved(request: HttpRequest, result: Result, draft: Draft, trail: Trail) -> HttpResponse:
    if not draft.option:
        raise ValidationError("Choose a verdict first.")
    evaluate(result, draft.ballot(), by=person(request))
    result.refresh_from_db(fields=["outcome", "score", "is_disputed"])
    if draft.criterion:
        now = f"the result is {result.outcome} with {score(result.score)}"
        messages.success(request, f"Saved what you say of this criterion: {now}.")
        return _to(result.pk, trail, draft.criterion)
    request.session["last_evaluated"] = {
        "pk": result.pk,
        "outcome": result.outcome,
        "is_disputed": result.is_disputed,
    }
    following = trail.after(result.pk)
    if following is None:
        messages.success(request, "Saved. That was the last result of this list.")
    return _to(following or result.pk, trail)


def _undone(request: HttpRequest, result: Result, draft: Draft, trail: Trail) -> HttpResponse:
    withdraw(result, by=person(request), criterion=draft.criterion)
    what = f"a criterion of result {result.pk}" if draft.criterion else f"result {result.pk}"
    messages.success(request, f"Undone: your verdict on {what} is withdrawn.")
    return _to(result.pk, trail, draft.criterion)


def _to(pk: int, trail: Trail, criterion: str = "") -> HttpResponse:
    """The page of a result; at the row of a criterion, where it was about one."""
    url = reverse("admin:runs_result_change", args=[pk]) + trail.suffix
    return HttpResponseRedirect(f"{url}#criterion-{criterion}" if criterion else url)
