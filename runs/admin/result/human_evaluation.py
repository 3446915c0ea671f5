"""Saving a human evaluation from the result page, and going to the next result."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evalhub.admin_site.pages import current_user, row_number
from evalhub.formatting import score
from issues.revisions import scale_of
from runs.admin.result.evaluation_entries import agreeing_choice, whole_choices
from runs.admin.result.navigation import ResultNavigation
from runs.models import ChosenBy, EvaluationKind, Result, ResultScore
from runs.scoring.human_evaluation import HumanVerdict, evaluate, withdraw

MAX_SECONDS = 24 * 3600


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
) -> HttpResponse | None:
    """Save or withdraw, and redirect; None after a refusal, with a message."""
    if draft.settles and not request.user.has_perm("runs.adjudicate"):
        raise PermissionDenied
    try:
        if draft.act != "undo":
            return _saved(request, result, draft, navigation)
        withdraw(result, by=current_user(request), criterion=draft.criterion)
    except ValidationError as error:
        for message in error.messages:
            messages.error(request, message)
        return None
    about = f"a criterion of result {result.pk}" if draft.criterion else f"result {result.pk}"
    messages.success(request, f"Withdrew your verdict on {about}.")
    return _to(result.pk, navigation, draft.criterion)


def _saved(
    request: HttpRequest, result: Result, draft: EvaluationForm, navigation: ResultNavigation
) -> HttpResponse:
    if not draft.option:
        raise ValidationError("Choose a verdict first: nothing was saved.")
    if draft.agrees:
        _check_agreement(result, draft.option)
    evaluate(result, draft.human_verdict(), by=current_user(request))
    result.refresh_from_db(fields=["outcome", "score", "is_disputed"])
    if draft.criterion:
        now = f"{result} is now {result.outcome}, score {score(result.score)}"
        messages.success(request, f"Saved your verdict on the criterion: {now}.")
        return _to(result.pk, navigation, draft.criterion)
    request.session["last_evaluated"] = {
        "pk": result.pk,
        "outcome": result.outcome,
        "is_disputed": result.is_disputed,
    }
    following = navigation.after(result.pk)
    if following is None:
        messages.success(request, "Saved. That was the last result in this list.")
    return _to(following or result.pk, navigation)


def _check_agreement(result: Result, option: str) -> None:
    judged = ResultScore.objects.filter(judge_run__is_active=True, result=result).first()
    choices = whole_choices(scale_of(result.revision.template), result.revision.passes)
    agreed = agreeing_choice(choices, judged.score, judged.passed) if judged else None
    if agreed is None or agreed.option.label != option:
        raise ValidationError(
            "The judges’ verdict has changed since this page was opened: look at it again."
        )


def _to(pk: int, navigation: ResultNavigation, criterion: str = "") -> HttpResponse:
    """Redirect to the page of a result, at the criterion if there is one."""
    url = reverse("admin:runs_result_change", args=[pk]) + navigation.suffix
    return HttpResponseRedirect(f"{url}#criterion-{criterion}" if criterion else url)
