"""Saving a human evaluation from the result page, and going to the next result."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse

from evalhub.admin_site.pages import current_user, require, row_number
from evalhub.display.formatting import score
from evalhub.models import User
from evalhub.values import clock
from issues.content.revisions import scale_of
from runs.admin.result.evaluation_entries import agreeing_choice, whole_choices
from runs.admin.result.navigation import ResultNavigation
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation, Result, ResultScore
from runs.scoring.human_evaluation import HumanVerdict, evaluate, withdraw

MAX_SECONDS = 24 * 3600
REPEATED = timedelta(minutes=2)
"""The time in which an equal form is the same one, sent again."""


@dataclass(frozen=True)
class EvaluationForm:
    """The form as sent, so that it can be shown again after a refusal."""

    act: str = "save"
    criterion: str = ""
    option: str = ""
    justification: str = ""
    settles: bool = False
    replaces: int | None = None
    agrees: bool = False
    seconds: int | None = None
    chosen_by: ChosenBy = ChosenBy.DIRECT
    problems: tuple[str, ...] = ()

    @classmethod
    def read(cls, sent: Mapping[str, str], *, chosen_by: ChosenBy) -> Self:
        seconds = sent.get("seconds", "")
        agreed = sent.get("agree", "")
        return cls(
            act=sent.get("act", "save"),
            criterion=sent.get("criterion", ""),
            option=agreed or sent.get("option", ""),
            justification=sent.get("justification", ""),
            settles="settles" in sent,
            replaces=row_number(sent.get("settles")) or None,
            agrees=bool(agreed),
            seconds=min(row_number(seconds), MAX_SECONDS) if seconds.isdecimal() else None,
            chosen_by=chosen_by,
        )

    def human_verdict(self) -> HumanVerdict:
        return HumanVerdict(
            option=self.option,
            justification=self.justification,
            kind=EvaluationKind.ADJUDICATION if self.settles else EvaluationKind.EVALUATION,
            chosen_by=self.chosen_by,
            seconds=self.seconds,
            criterion=self.criterion,
            needs_reason=not self.agrees,
            replaces=self.replaces,
        )


def evaluated(
    request: HttpRequest, result: Result, draft: EvaluationForm, navigation: ResultNavigation
) -> str:
    """Save or withdraw; return the address to go to, "" after a refusal, with a message."""
    require(not draft.settles or request.user.has_perm("runs.adjudicate"))
    try:
        if draft.act != "undo":
            return _saved(request, result, draft, navigation)
        withdraw(result, by=current_user(request), criterion=draft.criterion)
    except ValidationError as error:
        for message in error.messages:
            messages.error(request, message)
        return ""
    about = f"a criterion of result {result.pk}" if draft.criterion else f"result {result.pk}"
    messages.success(request, f"Withdrew your verdict on {about}.")
    return url_at(result.pk, navigation, draft.criterion)


def _saved(
    request: HttpRequest, result: Result, draft: EvaluationForm, navigation: ResultNavigation
) -> str:
    if not draft.option:
        raise ValidationError("Choose a verdict first: nothing was saved.")
    if draft.agrees:
        _check_agreement(result, draft.option)
    if not _is_repeated(result, draft, current_user(request)):
        evaluate(result, draft.human_verdict(), by=current_user(request))
    result.refresh_from_db(fields=["outcome", "score", "is_disputed"])
    if draft.criterion:
        now = f"{result} is now {result.outcome}, score {score(result.score)}"
        messages.success(request, f"Saved your verdict on the criterion: {now}.")
        return url_at(result.pk, navigation, draft.criterion)
    request.session["last_evaluated"] = {
        "pk": result.pk,
        "outcome": result.outcome,
        "is_disputed": result.is_disputed,
    }
    following = navigation.after(result.pk)
    if following is None:
        messages.success(request, "Saved. That was the last result in this list.")
    return url_at(following or result.pk, navigation)


def _is_repeated(result: Result, draft: EvaluationForm, by: User) -> bool:
    """Tell whether this form was saved a moment ago, and only the answer to it was lost."""
    last = (
        HumanEvaluation.objects.filter(
            result=result,
            annotator=by,
            criterion__key=draft.criterion,
            created_at__gt=clock.now() - REPEATED,
        )
        .order_by("pk")
        .last()
    )
    verdict = draft.human_verdict()
    return last is not None and (last.kind, last.option, last.justification, last.seconds) == (
        verdict.kind,
        verdict.option,
        verdict.justification.strip(),
        verdict.seconds,
    )


def _check_agreement(result: Result, option: str) -> None:
    judged = ResultScore.objects.filter(judge_run__is_active=True, result=result).first()
    choices = whole_choices(scale_of(result.revision.template), result.revision.passes)
    agreed = agreeing_choice(choices, judged.score, judged.passed) if judged else None
    if agreed is None or agreed.option.label != option:
        raise ValidationError(
            "The judges’ verdict has changed since this page was opened: look at it again."
        )


def url_at(pk: int, navigation: ResultNavigation, criterion: str = "") -> str:
    """Return the address of a result's page, at the criterion if there is one."""
    url = reverse("admin:runs_result_change", args=[pk]) + navigation.suffix
    return f"{url}#criterion-{criterion}" if criterion else url
