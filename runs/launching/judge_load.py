"""Load of judges before a launch: calls by judge, and the tokens of their prompts."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from evalhub.llm.token_estimates import tokens_of
from issues.judge_templates.example_selection import ExampleQuery, as_text
from issues.judge_templates.prompts import variables_of
from issues.models import Criterion, Test
from runs.judging.jury import FrozenJudge, FrozenJury, frozen_jury_of, snapshot
from runs.judging.prompts import JudgePromptTemplate
from runs.launching.load import JUDGMENT_TOKENS, EndpointLoad, Span, load_of_judge
from runs.models import Judge

VERDICT_SCHEMA_TOKENS = 150
"""Tokens that options and reply form add to a judge's prompt."""
REPAIR_TOKENS = 250
"""Tokens of a repair prompt besides the reply and its options."""


class JudgeShare(NamedTuple):
    """Calls of a judge per answer: for a whole test, and for a rubric."""

    frozen_judge: FrozenJudge
    whole: int
    rubric: int


def jury_preview(judges: Sequence[Judge], tests: Iterable[Test] = ()) -> FrozenJury:
    """Return these judges as a judge run of these tests would freeze them now."""
    templates = {test.template_id for test in tests if test.template_id}
    return frozen_jury_of(snapshot(judges, None, name="", templates=templates))


def judge_shares(frozen_jury: FrozenJury, criteria: int) -> list[JudgeShare]:
    """Return the calls of each judge per answer, for a rubric of so many criteria for judges."""
    return [
        JudgeShare(
            frozen_judge,
            frozen_judge.samples
            if is_asked_about(frozen_jury, frozen_judge, on_rubric=False)
            else 0,
            frozen_judge.samples * criteria
            if is_asked_about(frozen_jury, frozen_judge, on_rubric=True)
            else 0,
        )
        for frozen_judge in frozen_jury.frozen_judges
    ]


def is_asked_about(frozen_jury: FrozenJury, frozen_judge: FrozenJudge, *, on_rubric: bool) -> bool:
    return any(frozen_judge is other for other in frozen_jury.judges_asked(on_rubric=on_rubric))


@dataclass
class _Asked:
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
        asked = self._asked(frozen_judge)
        low, high = (passes * (asked.tokens + asked.judgments * size) for size in answer)
        return load_of_judge(
            frozen_judge.endpoint,
            frozen_judge.params,
            judgments=asked.judgments * passes,
            repairs=(asked.judgments - asked.repaired.total()) * passes,
            prompt_tokens=Span(low, high),
        )

    def repair(self, passes: int) -> list[EndpointLoad]:
        """Return the loads of repair models, from no repair to one for every judgment."""
        repaired: Counter[int] = Counter()
        for frozen_judge in self.frozen_jury.frozen_judges:
            repaired.update(self._asked(frozen_judge).repaired)
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

    def _asked(self, frozen_judge: FrozenJudge) -> _Asked:
        asked = _Asked()
        on_rubric, on_whole = (
            is_asked_about(self.frozen_jury, frozen_judge, on_rubric=True),
            is_asked_about(self.frozen_jury, frozen_judge, on_rubric=False),
        )
        for test in self.tests:
            rubric = list(test.criteria.all())
            if rubric and on_rubric and frozen_judge.rubric:
                self._add(asked, frozen_judge, frozen_judge.rubric, test, for_judges(rubric))
            elif not rubric and on_whole and (whole := frozen_judge.whole or self._own(test)):
                self._add(asked, frozen_judge, whole, test, [None])
        return asked

    def _add(
        self,
        asked: _Asked,
        frozen_judge: FrozenJudge,
        prompt_template: JudgePromptTemplate,
        test: Test,
        criterion_tasks: Sequence[Criterion | None],
    ) -> None:
        """Add judgments on these criteria; None is the test as a whole."""
        n = frozen_judge.samples * len(criterion_tasks)
        asked.judgments += n
        asked.tokens += frozen_judge.samples * _size(
            frozen_judge, prompt_template, test, criterion_tasks
        )
        repair_model = self.frozen_jury.repair_models.get(prompt_template.template_id)
        if (
            n
            and repair_model
            and repair_model.language_model_id != frozen_judge.endpoint.language_model_id
        ):
            asked.repaired[repair_model.language_model_id] += n

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
    frozen_judge: FrozenJudge,
    prompt_template: JudgePromptTemplate,
    test: Test,
    criterion_tasks: Sequence[Criterion | None],
) -> int:
    """Return the tokens of one judge's prompts, one for each of these criteria."""
    text = prompt_template.text_for(frozen_judge.endpoint.language_model_id)
    shown = _named(text)
    always = len(text) + sum(_length(test, name) for name in shown)
    own = sum(len(criterion.text) for criterion in criterion_tasks if criterion)
    taught = sum(
        _taught(prompt_template, shown, test, criterion is not None)
        for criterion in criterion_tasks
    )
    characters = always * len(criterion_tasks) + taught + (own if "criterion" in shown else 0)
    return tokens_of(characters) + VERDICT_SCHEMA_TOKENS * len(criterion_tasks)


def _taught(
    prompt_template: JudgePromptTemplate, shown: Collection[str], test: Test, is_criterion: bool
) -> int:
    """Return the characters of the examples shown, by their average length."""
    fit = prompt_template.examples.that_fit(ExampleQuery(test.pk, "", "", is_criterion))
    if not fit:
        return 0
    number = min(len(fit), prompt_template.examples.most)
    return number * len(as_text(fit, shown, "0" * 16)) // len(fit)


@lru_cache(maxsize=256)
def _named(text: str) -> frozenset[str]:
    """Return the variables of a template's text, which is parsed once."""
    return frozenset(variables_of(text))


def _length(test: Test, name: str) -> int:
    """Return the characters that this variable adds to a prompt, whatever the criterion."""
    if name == "input":
        return sum(len(str(message.get("content") or "")) for message in test.messages)
    if name == "criteria":
        return sum(len(criterion.text) for criterion in test.criteria.all())
    return len(getattr(test, name)) if name in ("reference", "guidelines", "context") else 0
