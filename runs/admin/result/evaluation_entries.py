"""Human evaluations and the options of their form, as the result page shows them."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalhub.models import User
from issues.rubrics.scales import Option, Scale
from issues.rubrics.scoring import inverted
from runs.figures.verdict_labels import evaluation_label, extent_label, verdict_label
from runs.models import Example, HumanEvaluation
from runs.scoring.active_evaluation_rule import active_evaluations, withdrawn

Passes = Callable[[float | None], bool | None]


@dataclass(frozen=True)
class EvaluationEntry:
    """A human evaluation; active until it is withdrawn or replaced."""

    evaluation: HumanEvaluation
    is_active: bool
    is_withdrawn: bool
    passed: bool | None

    @property
    def example(self) -> Example | None:
        """Its mark as an example; None also where the mark was not read."""
        is_known = HumanEvaluation.example.is_cached(self.evaluation)
        return getattr(self.evaluation, "example", None) if is_known else None

    @property
    def about(self) -> str:
        """The criterion's key; "" for the answer as a whole."""
        return self.evaluation.criterion.key

    def is_active_of(self, annotator: User) -> bool:
        return self.is_active and self.evaluation.annotator_id == annotator.pk

    @property
    def label(self) -> str:
        return evaluation_label(self.evaluation, self.passed)


def evaluation_entries_of(rows: Sequence[HumanEvaluation], passes: Passes) -> list[EvaluationEntry]:
    """Return the evaluations of one result, of its criteria and of the whole, oldest first."""
    about: dict[int, list[HumanEvaluation]] = defaultdict(list)
    for row in rows:
        about[row.criterion_id].append(row)
    active = {row.pk for group in about.values() for row in active_evaluations(group)}
    undone = {row.pk for group in about.values() for row in withdrawn(group)}
    return [
        EvaluationEntry(
            row,
            row.pk in active,
            row.pk in undone,
            None if row.criterion.key else passes(row.value),
        )
        for row in rows
    ]


@dataclass(frozen=True)
class Choice:
    """An option of a scale, with its key on the keyboard.

    `score`: what it comes to on a criterion, inverted where the answer should not show it; None for
    the whole.
    """

    key: int | str
    option: Option
    passed: bool | None
    label: str
    score: float | None = None


def whole_choices(scale: Scale, passes: Passes) -> list[Choice]:
    """Return the options for a test as a whole, best first; keys are numbers, or p and f."""
    sides = [(option, passes(option.value)) for option in _best_first(scale)]
    keys: Sequence[int | str] = range(1, len(sides) + 1)
    if [passed for _, passed in sides] == [True, False]:
        keys = "pf"
    return [
        Choice(key, option, passed, verdict_label(option.label, None, passed))
        for key, (option, passed) in zip(keys, sides, strict=True)
    ]


def agreeing_choice(
    choices: Sequence[Choice], score: float | None, passed: bool | None
) -> Choice | None:
    """Return the option nearest to the judges' score, with their outcome; None without one."""
    if score is None or passed is None:
        return None
    same = [choice for choice in choices if choice.passed == passed]
    return min(same, key=lambda choice: abs(choice.option.value - score), default=None)


def extent_choices(scale: Scale, *, is_inverted: bool) -> list[Choice]:
    """Return the options for one criterion, largest extent first."""
    return [
        Choice(
            key,
            option,
            None,
            extent_label(option.label),
            inverted(option.value) if is_inverted else option.value,
        )
        for key, option in enumerate(_best_first(scale), 1)
    ]


def _best_first(scale: Scale) -> list[Option]:
    return sorted(scale.options, key=lambda option: -option.value)
