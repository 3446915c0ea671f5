"""Inventing a ledger into an empty database."""

from collections.abc import Callable
from typing import NamedTuple

from django.db import transaction
from django.db.models import Model

from evalhub.models import LanguageModel
from issues.models import Feedback, Issue, Tag, Test
from runs.models import Answer, Judgment, Result, ResultScore, Run, Suite
from tests.sample_data import human_evaluations, summaries, vocabulary
from tests.sample_data.bulk_insert import go_on_counting, tidy
from tests.sample_data.content import Content, graded_tests, make_content
from tests.sample_data.judgments import TIRED, SimulatedJury
from tests.sample_data.plan import DRIFTING, REGRESSING, Plan, Size
from tests.sample_data.run_data import RunDataWriter

MUST_BE_EMPTY: tuple[type[Model], ...] = (Issue, Test, Tag, Feedback, Suite, LanguageModel, Run)


class NotEmpty(Exception):
    """There are rows already; the message says which."""


class SampleData(NamedTuple):
    """What was made: how many rows of a kind, and what a report should find."""

    counts: dict[str, int]
    stories: list[str]


def generate(
    size: Size, *, detailed: int, tell: Callable[[int], None] = lambda _: None
) -> SampleData:
    """Fill the ledger, in one transaction.

    Args:
        detailed: So many of the last runs keep each judgment, and were looked at by people; the
            others have answers, scores and the sums of agreement.
        tell: Is told how many runs there are, after each.

    Raises:
        NotEmpty: It holds something already.
    """
    refuse_what_is_there()
    plan = Plan(size)
    evaluations = 0
    with transaction.atomic():
        content = make_content(plan)
        filling = RunDataWriter(plan, content, SimulatedJury(plan, graded_tests(plan)), detailed)
        for number, filled in enumerate(filling.fill()):
            if number >= size.runs - detailed:
                evaluations += human_evaluations.evaluate(
                    plan, content, filled, filling.whole_tests
                )
            tell(number + 1)
        go_on_counting(Result)
        _pin_baseline(plan, content)
        summary_count = summaries.summarise(plan, content.suites, content.analyst)
    tidy()
    kinds: dict[str, type[Model]] = {
        "issues": Issue,
        "tests": Test,
        "suites": Suite,
        "runs": Run,
        "results": Result,
        "answers": Answer,
        "result_scores": ResultScore,
        "judgments": Judgment,
    }
    counts = {name: kind._default_manager.count() for name, kind in kinds.items()}
    return SampleData(
        counts | {"evaluations": evaluations, "executive summaries": summary_count},
        stories_of(plan),
    )


def _pin_baseline(plan: Plan, content: Content) -> None:
    """The run that the drifting line is to be held against, as one that asks for a drift would."""
    release = f"1.{min(plan.new_jury_from, plan.releases - 1)}"
    suite, model = content.suites[0], content.models[DRIFTING.model]
    runs = Run.objects.filter(suite=suite, language_model=model, release=release)
    suite.baselines.set(runs.order_by("pk")[:1])


def refuse_what_is_there() -> None:
    """Raise NotEmpty where invented figures would mix with others."""
    counts = {kind: kind._default_manager.count() for kind in MUST_BE_EMPTY}
    found = [f"{n} {kind._meta.verbose_name_plural}" for kind, n in counts.items() if n]
    if found:
        raise NotEmpty(
            f"This ledger is not empty: it has {', '.join(found)}. Invented figures would mix "
            "with them. Use an empty database."
        )


def stories_of(plan: Plan) -> list[str]:
    """What was planted, in words: a report that does not find it is wrong."""
    planted = plan.planted
    title = vocabulary.issue_title
    last, names = f"1.{plan.releases - 1}", vocabulary.MODELS
    suite = "the suite “Everything”"
    return [
        f"No model ever passes “{title(planted.hopeless)}”.",
        f"“{title(planted.repaired)}” fails everywhere before release "
        f"1.{planted.repaired_from}, and passes everywhere since.",
        f"{names[REGRESSING.model].name} fails “{title(planted.regressed)}” since release {last}, "
        "and passed it before.",
        f"{names[DRIFTING.model].name} gets worse from release 1.{plan.new_jury_from} to {last} "
        f"on {suite}: a slow slide.",
        f"{len(plan.changed_tests)} tests have another text since release "
        f"1.{plan.new_revision_from}: their results are not compared across it.",
        f"The third judge is another one since release 1.{plan.new_jury_from}, and makes "
        f"{TIRED:.0%} of its verdicts at random in release {last}.",
    ]
