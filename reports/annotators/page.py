"""Annotators: how far people agree with each other, and with themselves."""

from collections.abc import Iterator, Mapping
from typing import Any

from evalhub.formatting import between, percent, score
from reports.annotators.annotator_tables import (
    annotator_work_table,
    group_agreement_table,
    pairs_table,
    self_agreement_table,
)
from reports.annotators.query import Annotators, annotators
from reports.annotators.rule import EvaluationScope
from reports.documents.document import Document, Estimate, Fact
from reports.documents.reading import Page, Reading
from reports.judge_reliability.evaluated_runs_form import EvaluatedRunsForm
from reports.queries.human_agreement import evaluated_runs


def build(asked: Mapping[str, Any], reading: Reading) -> Document:
    """Each two people, all together by suite and tag, and each person."""
    found = annotators(evaluated_runs(suite=asked["suite"], last=asked["last"]), reading)
    return Document(
        question="How far do people agree with each other?",
        sentences=tuple(_sentences(found)),
        facts=tuple(_facts(found)),
        tables=(
            *(pairs_table(found, scope) for scope in EvaluationScope),
            group_agreement_table(found),
            annotator_work_table(found),
            self_agreement_table(found),
        ),
        warnings=tuple(_warnings(found)),
    )


def _sentences(found: Annotators | None) -> Iterator[str]:
    if found is None:
        return
    scope = (
        EvaluationScope.BLIND if found.all_together(EvaluationScope.BLIND) else EvaluationScope.ALL
    )
    line = found.all_together(scope)
    if line is None:
        yield (
            "No two people have judged the same answer yet. Let a queue ask two reviewers for "
            "each: how far their verdicts can be relied on is then told here."
        )
        return
    told = "blind " if scope is EvaluationScope.BLIND else ""
    answers = f"{line.answers:,} answer{'s' * (line.answers != 1)}"
    yield (
        f"At least two of {line.people:,} people gave {told}verdicts on {answers}: two of them say "
        f"the same {percent(line.same / line.compared)} of the time ({between(line.raw)})."
    )
    if line.alpha is not None:
        low, high = line.interval or (None, None)
        bounds = f" ({score(low)} to {score(high)})" if line.interval else ""
        yield f"Beyond chance that is alpha {score(line.alpha)}{bounds}: {line.band}."
    else:
        yield f"There is no alpha: {line.band}."


def _facts(found: Annotators | None) -> Iterator[Fact]:
    if found is None:
        return
    yield Fact("people", "People", len(found.work), "count", "who judged answers of these runs")
    for scope, title in (
        (EvaluationScope.BLIND, "Judged twice, blind"),
        (EvaluationScope.ALL, "Judged twice"),
    ):
        line = found.all_together(scope)
        yield Fact(f"answers_{scope.value}", title, line.answers if line else 0, "count", "answers")
    line = found.all_together(EvaluationScope.BLIND)
    if line is not None:
        worth = Estimate(line.alpha, line.answers, line.interval)
        yield Fact("alpha", "Alpha, blind", worth, "estimate", str(line.band))


def _warnings(found: Annotators | None) -> Iterator[str]:
    if found is None:
        return
    if found.all_together(EvaluationScope.ALL) and not found.all_together(EvaluationScope.BLIND):
        yield (
            "No answer was judged blind by two people: these may have seen what judges or the "
            "other said, and agree for that reason."
        )
    lopsided = sum(pair.is_lopsided for pair in found.pairs[EvaluationScope.ALL])
    if lopsided:
        yield (
            f"In {lopsided} of {len(found.pairs[EvaluationScope.ALL])} pairs one verdict "
            f"is rarer than 10%: "
            "kappa is then low however often the two agree. Read the share beside it."
        )


ANNOTATORS = Page(
    key="annotators",
    title="Annotators",
    summary="How far people agree: Cohen's kappa of each two, Krippendorff's alpha by suite and "
    "tag, blind reviews apart, and what each person did.",
    form=EvaluatedRunsForm,
    build=build,
    icon="groups_2",
)
