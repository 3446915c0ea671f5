"""The small parts of which the page of a result is made."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from evalhub.markup import model_markdown
from evalhub.models import CallRole, LanguageModel
from issues.rubrics.scales import Option, Scale
from runs.figures.run_labels import judges_itself
from runs.models import Example, HumanEvaluation, JudgeRun, Judgment
from runs.scoring.active_evaluations import active_evaluations, withdrawn

Passes = Callable[[float | None], bool | None]


@dataclass(frozen=True)
class Text:
    """An untrusted text, as safe HTML and as it is."""

    html: SafeString
    raw: str

    @classmethod
    def of(cls, raw: str) -> "Text":
        # Sanitised to an allow-list of bare tags.
        return cls(mark_safe(model_markdown(raw).html), raw)


def text_or_none(raw: str) -> Text | None:
    return Text.of(raw) if raw else None


def verdict_label(label: str, value: float | None, passed: bool | None) -> str:
    """A verdict as people read it: "passes (1)" where the option is a mere number."""
    if is_number(label) and passed is not None:
        return f"{'passes' if passed else 'fails'} ({label})"
    return label if value is None else f"{label or 'verdict'} · {value:.2f}"


def extent_label(label: str, value: float | None = None) -> str:
    """How far an answer shows a criterion, as people read it: "mostly met", "5 · 0.67"."""
    said = label.replace("_", " ").lower() if label.isupper() else label
    return said if value is None else f"{said or 'shown'} · {value:.2f}"


def is_number(label: str) -> bool:
    return label.replace(".", "", 1).isdecimal()


# Judges ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JudgeInfo:
    """A judge of a judging, as it was copied, and what must be known of it."""

    judge_id: int
    name: str
    litellm_model: str
    is_scripted: bool
    is_candidate: bool
    is_backup: bool
    note: str


def judge_infos_of(judge_runs: Iterable[JudgeRun]) -> dict[int, dict[int, JudgeInfo]]:
    """The judges of each judging by their ids, in the order of the jury, the backup last.

    One query. The judgings' runs must be at hand.
    """
    frozen_judges = {judge_run: _frozen_judges(judge_run) for judge_run in judge_runs}
    ids = {
        judge["endpoint"]["language_model_id"]
        for each in frozen_judges.values()
        for judge, _ in each
    }
    notes = dict(LanguageModel.objects.filter(pk__in=ids).values_list("pk", "note"))
    return {
        judge_run.pk: {
            judge["judge"]: _judge_info(judge_run, judge, is_backup, notes)
            for judge, is_backup in each
        }
        for judge_run, each in frozen_judges.items()
    }


def _frozen_judges(judge_run: JudgeRun) -> list[tuple[dict[str, Any], bool]]:
    backup = judge_run.jury.get("backup")
    judges = [(judge, False) for judge in judge_run.jury.get("judges", ())]
    return [*judges, *([(backup, True)] if backup else [])]


def _judge_info(
    judge_run: JudgeRun, judge: dict[str, Any], is_backup: bool, notes: dict[int, str]
) -> JudgeInfo:
    endpoint = judge["endpoint"]
    return JudgeInfo(
        judge_id=judge["judge"],
        name=judge.get("name") or endpoint["name"],
        litellm_model=endpoint["litellm_model"],
        is_scripted=bool(endpoint.get("is_scripted")),
        is_candidate=judges_itself(judge_run.run, endpoint),
        is_backup=is_backup,
        note=notes.get(endpoint["language_model_id"], ""),
    )


def repaired_by(judgment: Judgment) -> str:
    """The name of the other model that wrote down its verdict; "" where none did.

    The judge and its call, with their models, must be at hand.
    """
    call, judge = judgment.call, judgment.judge
    if call is None or judge is None or call.role != CallRole.REPAIR:
        return ""
    is_own = call.language_model_id == judge.language_model_id
    return "" if is_own else str(call.language_model)


# People ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EvaluationEntry:
    """One human evaluation. It counts while it stands: neither withdrawn nor replaced."""

    evaluation: HumanEvaluation
    is_active: bool
    is_withdrawn: bool
    passed: bool | None

    @property
    def example(self) -> Example | None:
        """That it is marked as one; None too where nobody has looked."""
        is_known = HumanEvaluation.example.is_cached(self.evaluation)
        return getattr(self.evaluation, "example", None) if is_known else None

    @property
    def about(self) -> str:
        """The key of the criterion that it is about; "": the answer as a whole."""
        return self.evaluation.criterion.key

    @property
    def words(self) -> str:
        row = self.evaluation
        if self.about:
            return extent_label(row.option, row.value)
        return verdict_label(row.option, row.value, self.passed)


def evaluation_entries_of(rows: Sequence[HumanEvaluation], passes: Passes) -> list[EvaluationEntry]:
    """What people said of one result, oldest first, of its criteria and of the whole."""
    about: dict[int, list[HumanEvaluation]] = defaultdict(list)
    for row in rows:
        about[row.criterion_id].append(row)
    stand = {row.pk for mine in about.values() for row in active_evaluations(mine)}
    undone = {row.pk for mine in about.values() for row in withdrawn(mine)}
    return [
        EvaluationEntry(
            row,
            row.pk in stand,
            row.pk in undone,
            None if row.criterion.key else passes(row.value),
        )
        for row in rows
    ]


@dataclass(frozen=True)
class Choice:
    """One option of a scale, with the key that chooses it; `words` are what people read."""

    key: int
    option: Option
    passed: bool | None
    is_default: bool
    words: str


def whole_choices(scale: Scale, passes: Passes, *, judged: bool | None) -> list[Choice]:
    """The options for a test as a whole, best first; the opposite of `judged` is chosen already."""
    options = _best_first(scale)
    default = None
    if judged is not None:
        extreme = min if judged else max
        default = extreme(options, key=lambda option: option.value)
    verdicts = [passes(option.value) for option in options]
    return [
        Choice(key, option, passed, option is default, verdict_label(option.label, None, passed))
        for key, (option, passed) in enumerate(zip(options, verdicts, strict=True), 1)
    ]


def extent_choices(scale: Scale) -> list[Choice]:
    """The options for one criterion, from what shows most of it to what shows least."""
    return [
        Choice(key, option, None, False, extent_label(option.label))
        for key, option in enumerate(_best_first(scale), 1)
    ]


def _best_first(scale: Scale) -> list[Option]:
    return sorted(scale.options, key=lambda option: -option.value)
