"""Read the data of a set of runs for an analyst. Sealed tests give figures only."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Avg, Min

from evalhub.llm.identity import identity_of
from issues.conversation import request_messages
from issues.judge_templates.prompts import conversation_text
from issues.models import Polarity
from reports.queries.names import tag_names
from reports.summaries.figure_table import FigureCell
from reports.summaries.key import Key, Subject, Variant
from reports.summaries.mask import Known
from reports.summaries.reduce import RankedTest
from reports.summaries.source_data import Case, Group, Overview, VariantAnswer
from runs.figures.tallies import Tally, group_of, score_of, tallies_of_runs
from runs.models import HAS_ANSWER, Outcome, Result, Run

MAX_TAGS = 12
"""Tags with most scored results whose figures are sent."""

Variants = dict[int, Variant]
"""The variant of each run, by run id."""


def subjects_of(runs: Iterable[Run]) -> list[Subject]:
    """Return the attributes that distinguish the runs."""
    return [
        Subject(
            run=run.pk,
            language_model=run.language_model_id,
            model_name=run.model_name,
            developer=identity_of(run.language_model).developer,
            system_prompt=run.system_prompt,
            temperature=float(sent) if isinstance(sent, int | float) else None,
        )
        for run in runs
        for sent in [(run.endpoint.get("params", {}) | run.params).get("temperature")]
    ]


def known_of(runs: Iterable[Run]) -> list[Known]:
    """Return all names of the runs' models, frozen and current."""
    found = []
    for run in runs:
        identity = identity_of(run.language_model)
        frozen, model = run.endpoint, run.language_model
        called = frozen.get("litellm_model") or model.litellm_model
        found.append(
            Known(run.model_name, called, identity.developer, identity.family, identity.key)
        )
        found.append(
            Known(
                model.name,
                model.litellm_model,
                frozen.get("developer") or identity.developer,
                frozen.get("family") or identity.family,
                model.identity,
            )
        )
    return list(dict.fromkeys(found))


def variants_of(key: Key) -> Variants:
    return {run: variant for variant in key.variants for run in variant.runs}


# Figures -----------------------------------------------------------------------------------------


def overview_of(runs: Sequence[Run], key: Key) -> Overview:
    """Return the figures over all tests of the runs, with sealed ones."""
    cells = tallies_of_runs(runs)
    tests = Result.objects.filter(run__in=runs).order_by()
    repeats = {run.pk: run.repeats for run in runs}
    groups = [("All tests", cells), *_by_tag(cells)]
    return Overview(
        suite=next((str(run.suite) for run in runs if run.suite), ""),
        tests=tests.values("test").distinct().count(),
        sealed=tests.filter(test__sealed=True).values("test").distinct().count(),
        variants=key.variants,
        groups=[
            Group(f"G_{number}", title, _figures(some, key, repeats))
            for number, (title, some) in enumerate(groups, 1)
        ],
    )


def _figures(cells: Iterable[Tally], key: Key, repeats: Mapping[int, int]) -> list[FigureCell]:
    variants, by_variant = variants_of(key), defaultdict(list)
    for cell in cells:
        by_variant[variants[cell.run_id]].append(cell)
    return [
        _figure(by_variant[variant], answers=sum(repeats[run] for run in variant.runs))
        for variant in key.variants
    ]


def _figure(cells: Sequence[Tally], *, answers: int) -> FigureCell:
    counts = group_of(cells)
    rate = counts.rate(answers=answers)
    return FigureCell(
        passed=counts.passed,
        scored=counts.scored,
        score=score_of(cells).mean,
        errors=counts.error,
        unscored=counts.unscored,
        interval=rate.interval,
        method=str(rate.method),
    )


def _by_tag(cells: Sequence[Tally]) -> list[tuple[str, list[Tally]]]:
    names = tag_names({cell.tag_set_id for cell in cells})
    by_tag: dict[str, list[Tally]] = defaultdict(list)
    for cell in cells:
        for name in names[cell.tag_set_id]:
            by_tag[name].append(cell)
    largest = sorted(by_tag, key=lambda tag: (-group_of(by_tag[tag]).scored, tag))[:MAX_TAGS]
    return [(tag, by_tag[tag]) for tag in sorted(largest)]


def test_ranks_of(runs: Sequence[Run]) -> list[RankedTest]:
    """Return the tests that may be sent, with their issue and mean score over all runs."""
    shown = Result.objects.filter(HAS_ANSWER, run__in=runs).exclude(test__sealed=True)
    rows = shown.order_by().values("test_id").annotate(issue=Min("issue_id"), mean=Avg("score"))
    return [RankedTest(*row) for row in rows.values_list("test_id", "issue", "mean")]


# Texts -------------------------------------------------------------------------------------------


def cases_of(runs: Sequence[Run], key: Key, tests: Sequence[int]) -> list[Case]:
    """Return these tests with their answers, in order, without sealed ones."""
    rows = Result.objects.filter(run__in=runs, test__in=tests).exclude(test__sealed=True)
    rows = rows.filter(answer__removed_at=None)
    joined = rows.select_related("revision", "answer", "issue", "tag_set")
    by_test: dict[int, list[Result]] = defaultdict(list)
    for result in joined.order_by("-run_id", "repeat"):
        by_test[result.test_id].append(result)
    variants = variants_of(key)
    return [_case(by_test[test], variants, key) for test in tests if by_test[test]]


def _case(results: Sequence[Result], variants: Variants, key: Key) -> Case:
    """Return a test with its answers, the newest run's results first."""
    by_variant: dict[Variant, list[Result]] = defaultdict(list)
    for result in results:
        by_variant[variants[result.run_id]].append(result)
    first, content = results[0], results[0].revision.content
    criteria = [
        ("Must not: " if point["polarity"] == Polarity.SHOULD_NOT else "") + point["text"]
        for point in content["criteria"]
        if point["text"]
    ]
    return Case(
        test=first.test_id,
        issue=str(first.issue),
        tags=first.tag_set.names,
        prompt=conversation_text(request_messages(content["messages"], content["context"])),
        looked_for=[text for text in (content["guidelines"], *criteria) if text],
        reference=content["reference"],
        answers=[_answer(one, by_variant[one]) for one in key.variants if one in by_variant],
    )


def _answer(variant: Variant, results: Sequence[Result]) -> VariantAnswer:
    outcomes = [result.outcome for result in results]
    scores = [result.score for result in results if result.score is not None]
    answered = next((result for result in results if hasattr(result, "answer")), None)
    passed = outcomes.count(Outcome.PASSED)
    return VariantAnswer(
        variant=variant,
        text=_text(answered) if answered else "",
        score=sum(scores) / len(scores) if scores else None,
        passed=passed,
        scored=passed + outcomes.count(Outcome.FAILED),
        failure="" if answered else results[0].error_kind or "none yet",
    )


def _text(result: Result) -> str:
    """Return the answer's text, or the tool calls of an answer without text."""
    answer = result.answer
    turns = "\n\n".join(turn["content"] for turn in answer.turns if turn.get("content"))
    called = conversation_text([{"role": "user", "content": "", "tool_calls": answer.tool_calls}])
    return turns or answer.text or called or "(an empty answer)"
