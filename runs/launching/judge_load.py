"""Load of judges before a launch: calls by judge, and the tokens of their prompts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evalhub.llm.costs.token_estimates import characters_in, tokens_of
from issues.judge_templates.example_selection import ExampleQuery, as_text
from issues.judge_templates.prompts import variables_of
from issues.models import Criterion, Test
from runs.judging.jury import FrozenJudge, FrozenJury, frozen_jury_of, snapshot
from runs.judging.prompts import JudgePromptTemplate
from runs.launching.endpoint_load import JUDGMENT_TOKENS, EndpointLoad, Span, load_of_judge
from runs.models import Judge, Method
from runs.models.jury import CALLS

VERDICT_SCHEMA_TOKENS = 150
"""Tokens that options and reply form add to a judge's prompt."""
REPAIR_TOKENS = 250
"""Tokens of a repair prompt besides the reply and its options."""


class JudgeShare(NamedTuple):
    """Most calls of a judge per answer, without repairs: for a whole test, and for a rubric."""

    whole: int
    rubric: int


def jury_preview(judges: Sequence[Judge], tests: Iterable[Test] = ()) -> FrozenJury:
    """Return these judges as a judge run of these tests would freeze them now."""
    templates = {test.template_id for test in tests if test.template_id}
    return frozen_jury_of(snapshot(judges, None, name="", templates=templates))


def judge_shares(frozen_jury: FrozenJury, criteria: int) -> list[JudgeShare]:
    """Return the most calls of each judge per answer; `criteria` are those for judges."""
    shares = []
    for judge in frozen_jury.frozen_judges:
        on_whole, on_rubric = _subjects(frozen_jury, judge)
        calls = judge.samples * CALLS[Method(judge.method)][1]
        shares.append(JudgeShare(calls * on_whole, calls * criteria * on_rubric))
    return shares


def _subjects(frozen_jury: FrozenJury, judge: FrozenJudge) -> tuple[bool, bool]:
    """Return whether the judge is asked about whole tests, and about rubrics."""
    subjects = [frozen_jury.judges_asked(on_rubric=on_rubric) for on_rubric in (False, True)]
    on_whole, on_rubric = (any(judge is other for other in judges) for judges in subjects)
    return on_whole, on_rubric


@dataclass
class _Judging:
    """Judgments of one judge in one pass over the answers, with the tokens of their prompts.

    `repaired` counts judgments whose reply another model repairs, by that model.
    """

    judgments: int = 0
    tokens: int = 0
    repaired: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True)
class JudgeLoad:
    """A jury before the tests of a launch."""

    frozen_jury: FrozenJury
    tests: Sequence[Test]
    own: dict[int, JudgePromptTemplate] = field(default_factory=dict)

    def load(self, frozen_judge: FrozenJudge, passes: int, answer: Span) -> EndpointLoad:
        """Return the load of one judge over these passes, for answers of so many tokens."""
        judging = self._judging(frozen_judge)
        low, high = (passes * (judging.tokens + judging.judgments * size) for size in answer)
        return load_of_judge(
            frozen_judge.endpoint,
            frozen_judge.params,
            judgments=judging.judgments * passes,
            repairs=(judging.judgments - judging.repaired.total()) * passes,
            prompt_tokens=Span(low, high),
            calls=Span(*CALLS[Method(frozen_judge.method)]),
        )

    def repair(self, passes: int) -> list[EndpointLoad]:
        """Return the loads of repair models, from no repair to one for every judgment."""
        repaired: Counter[int] = Counter()
        for frozen_judge in self.frozen_jury.frozen_judges:
            most = CALLS[Method(frozen_judge.method)][1]
            judging = self._judging(frozen_judge)
            repaired.update({model: n * most for model, n in judging.repaired.items()})
        endpoints = {e.language_model_id: e for e in self.frozen_jury.repair_models.values()}
        reply = JUDGMENT_TOKENS[1]
        prompt = reply + VERDICT_SCHEMA_TOKENS + REPAIR_TOKENS
        return [
            EndpointLoad(
                endpoints[model],
                Span(0, n * passes),
                Span(0, n * passes * prompt),
                Span(0, n * passes * reply),
            )
            for model, n in sorted(repaired.items())
        ]

    def _judging(self, judge: FrozenJudge) -> _Judging:
        judging = _Judging()
        on_whole, on_rubric = _subjects(self.frozen_jury, judge)
        for test in self.tests:
            rubric = list(test.criteria.all())
            template: JudgePromptTemplate | None = None
            criteria: list[Criterion | None] = [None]
            if rubric and on_rubric:
                template, criteria = judge.rubric, [*for_judges(rubric)]
            elif not rubric and on_whole:
                template = judge.whole or self._own(test)
            if template is None:
                continue
            judging.judgments += judge.samples * len(criteria)
            judging.tokens += judge.samples * _size(judge, template, test, criteria)
            model = self.frozen_jury.repair_models.get(template.template_id)
            if criteria and model and model.language_model_id != judge.endpoint.language_model_id:
                judging.repaired[model.language_model_id] += judge.samples * len(criteria)
        return judging

    def _own(self, test: Test) -> JudgePromptTemplate | None:
        if test.template is None:
            return None
        if test.template.pk not in self.own:
            self.own[test.template.pk] = JudgePromptTemplate.of(test.template)
        return self.own[test.template.pk]


def for_judges(rubric: Iterable[Criterion]) -> list[Criterion]:
    """Return the criteria that judges score: those without a check."""
    return [criterion for criterion in rubric if not criterion.check_name]


def _size(
    judge: FrozenJudge,
    template: JudgePromptTemplate,
    test: Test,
    criteria: Sequence[Criterion | None],
) -> int:
    """Return the tokens of prompts on these criteria; None is the test as a whole.

    Examples count with their average length.
    """
    text = template.text_for(judge.endpoint.language_model_id)
    shown = variables_of(text)
    characters = len(criteria) * (
        len(judge.role) + len(text) + sum(_length(test, name) for name in shown)
    )
    if "input" in shown and "context" not in shown:
        characters += len(criteria) * len(test.context)
    for criterion in criteria:
        if criterion and "criterion" in shown:
            characters += len(criterion.text)
        fit = template.examples.that_fit(ExampleQuery(test.pk, "", "", criterion is not None))
        if fit:
            number = min(len(fit), template.examples.most)
            characters += number * len(as_text(fit, shown, "0" * 16)) // len(fit)
    return tokens_of(characters) + VERDICT_SCHEMA_TOKENS * len(criteria)


def _length(test: Test, name: str) -> int:
    """Return the characters that this variable adds to a prompt, whatever the criterion."""
    if name == "input":
        return characters_in(test.messages)
    if name == "criteria":
        return sum(len(criterion.text) for criterion in test.criteria.all())
    return len(getattr(test, name)) if name in ("reference", "guidelines", "context") else 0
