"""The form for a person's verdict, as every page shows it: result, criterion, queue, Compare."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from django.urls import reverse

from issues.rubrics.scoring import WHOLE_TEST
from runs.admin.result.adjudication import Adjudication
from runs.admin.result.evaluation_entries import Choice
from runs.admin.result.human_evaluation import EvaluationForm
from runs.admin.result.page import ResultPage
from runs.admin.result.rubric import Row


@dataclass(frozen=True)
class Option:
    """An option of the form; `needs_reason`: a reason is required with it."""

    choice: Choice
    is_chosen: bool
    needs_reason: bool = True


@dataclass(frozen=True)
class VerdictPoint:
    """A criterion to judge, or the answer as a whole (key "").

    `row` has the criterion's details; None for the whole. `judged` is the judges' consensus in
    words; empty in a blind review, and on pages that show it elsewhere.
    """

    key: str
    options: Sequence[Option]
    reason: str
    row: Row | None = None
    option_name: str = "option"
    reason_name: str = "justification"
    judged: str = ""
    title: str = "The answer as a whole"

    @property
    def needs_reason(self) -> bool:
        return all(option.needs_reason for option in self.options)

    @property
    def reason_hint(self) -> str:
        needed = [option.needs_reason for option in self.options]
        if self.needs_reason:
            return "required"
        return "required if you override the judges" if any(needed) else "optional"


@dataclass(frozen=True)
class VerdictForm:
    """The form of a page, filled with what its reader has typed.

    Attributes:
        hidden: Values of hidden fields, by name.
        agreed: What "Agree with the judges" saves; None offers no such button.
        mine: The label of the verdict that a new one replaces; "" without one.
        extras: A template with more fields; "" for none.
        is_criterion: It is in the criterion's own row, which names it.
        is_checked: The browser asks for an option and a reason; else the server does.
        is_closed: It was submitted and cannot be changed.
        is_drafted: Drafts of it are kept.
    """

    id: str
    url: str
    points: Sequence[VerdictPoint]
    hidden: Mapping[str, object]
    save: str = "Save"
    agreed: Choice | None = None
    mine: str = ""
    adjudication: Adjudication | None = None
    draft: EvaluationForm | None = None
    extras: str = ""
    is_criterion: bool = False
    is_checked: bool = False
    is_closed: bool = False
    is_drafted: bool = True

    def replacing(self, name: str) -> Self:
        """Return the form open again: what it saves replaces an earlier verdict, as `name` says."""
        hidden = {**self.hidden, name: 1}
        return replace(self, hidden=hidden, save="Replace my verdict", is_closed=False)

    @property
    def lettered(self) -> Sequence[Choice]:
        """The options with keys of their own."""
        choices = (option.choice for point in self.points for option in point.options)
        return [choice for choice in choices if isinstance(choice.key, str)]

    @property
    def most_options(self) -> int:
        return max(len(point.options) for point in self.points)

    @property
    def has_criteria(self) -> bool:
        return not self.is_criterion and any(point.key for point in self.points)


def verdict_forms(
    page: ResultPage,
    drafts: Mapping[str, EvaluationForm],
    *,
    name: str = "evaluation",
    suffix: str = "",
    save: str = "Save",
    next_url: str = "",
) -> dict[str, VerdictForm]:
    """Return the forms of a result by criterion; "" is the whole. Empty without an answer.

    `suffix` is the query string of the list that the reader comes from; `next_url` is the page to
    return to, "" for the next result of that list.
    """
    if not page.may_be_evaluated:
        return {}
    url = reverse("admin:runs_result_evaluate", args=[page.result.pk]) + suffix
    following = {"next": next_url} if next_url else {}

    def form(key: str, choices: Sequence[Choice], row: Row | None = None) -> VerdictForm:
        draft, last = drafts.get(key), row.mine if row else page.mine
        chosen, reason = (draft.option, draft.justification) if draft else ("", "")
        options = [Option(choice, choice.option.label == chosen) for choice in choices]
        return VerdictForm(
            id=f"{name}-{key}" if row else name,
            url=url,
            points=[VerdictPoint(key, options, reason, row)],
            hidden={"criterion": key, "act": "save", "seconds": "", **following},
            save="Save" if row else save,
            agreed=None if row else page.agreed,
            mine=next(
                (each.label for each in choices if last and each.option.label == last.option), ""
            ),
            adjudication=row.adjudication if row else page.adjudication,
            draft=draft,
            is_criterion=row is not None,
            is_checked=True,
        )

    rows = {row.criterion.key: form(row.criterion.key, row.choices, row) for row in page.rows}
    return {WHOLE_TEST: form(WHOLE_TEST, page.choices), **rows}
