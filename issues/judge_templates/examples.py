"""Labelled examples of judge templates: adding, checking, and building them for prompts."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models import Max

from evalhub.access.models import User
from evalhub.llm.verdicts.judge_replies import verdict_schema
from evalhub.llm.verdicts.option_matching import folded, number_in
from evalhub.refusals import Refused
from issues.judge_templates.example_selection import Examples, ShownExample
from issues.limits import MAX_TEMPLATE_EXAMPLES
from issues.models import JudgeTemplate, ReplyForm, TemplateExample, TemplateState, Test
from issues.models.template import is_criterion_template
from issues.rubrics.scales import DIGITS, Option, Scale, from_json


class ExampleSource(NamedTuple):
    """An answer with a human verdict, to copy. `value` finds the option under another label."""

    test: Test
    texts: dict[str, str]
    option: str
    value: float


# For judges --------------------------------------------------------------------------------------


def examples_of(template: JudgeTemplate) -> Examples:
    """Return a template's examples as judges see them; none if the template is unsaved."""
    if template.pk is None:
        return Examples()
    scale = from_json(template.scale)
    is_label = template.reply_form == ReplyForm.LABEL
    rows = tuple(shown(row, scale, is_label=is_label) for row in template.examples.all())
    return Examples(rows, template.example_choice, template.examples_shown)


def shown(row: TemplateExample, scale: Scale, *, is_label: bool = False) -> ShownExample:
    """Return an example as judges see it; its verdict becomes a reply on this scale."""
    option = scale.option_of(row.option)
    numbers = verdict_schema(scale.options)["properties"]["score"]["type"] == "integer"
    score = int(row.option) if numbers and row.option.lstrip("-").isdecimal() else row.option
    verdict = {"justification": row.justification, "score": score}
    return ShownExample(
        pk=row.pk,
        test_id=row.test_id,
        input=row.input,
        output=row.output,
        reference=row.reference,
        guidelines=row.guidelines,
        criterion=row.criterion,
        reply=row.option if is_label else json.dumps(verdict, ensure_ascii=False),
        worth=f"{option.value:.3g}" if option else "",
    )


# Adding -------------------------------------------------------------------------------------------


def option_for(scale: Scale, option: str, value: float) -> Option | None:
    """Return the equivalent option of a scale: by label, else by value.

    A bare number is no label: 5 of 7 is not 5 of 5.
    """
    named = next((o for o in scale.options if folded(o.label) == folded(option)), None)
    if named and (number_in(named.label) is None or round(named.value - value, DIGITS) == 0):
        return named
    return scale.option_worth(value)


@transaction.atomic
def copy_in(template: JudgeTemplate, sources: Sequence[ExampleSource]) -> list[TemplateExample]:
    """Copy human verdicts into a draft as its next examples, skipping those it has.

    Raises:
        Refused: The template is no draft, or some cannot be its examples: then none is copied.
    """
    draft = JudgeTemplate.objects.select_for_update().get(pk=template.pk)
    if draft.state != TemplateState.DRAFT:
        raise Refused([f"{draft} is {draft.get_state_display().lower()}. Choose a draft."])
    scale = from_json(draft.scale)
    known = {_content(row) for row in draft.examples.all()}
    start = (draft.examples.aggregate(last=Max("order"))["last"] or 0) + 1
    rows = []
    for source in sources:
        option = option_for(scale, source.option, source.value)
        label = option.label if option else source.option
        rows.append(TemplateExample(template=draft, test=source.test, option=label, **source.texts))
    problems = [p for row, t in zip(rows, sources, strict=True) for p in _problems(row, t)]
    fresh = list({_content(row): row for row in rows if _content(row) not in known}.values())
    if len(known) + len(fresh) > MAX_TEMPLATE_EXAMPLES:
        problems.append(f"A template may have up to {MAX_TEMPLATE_EXAMPLES} examples. Copy fewer.")
    if problems:
        raise Refused(problems)
    for order, row in enumerate(fresh, start):
        row.order = order
        row.save()
    return fresh


def _problems(row: TemplateExample, example: ExampleSource) -> list[str]:
    found = row.problems()
    if "option" in found:
        found["option"] = (
            f"its verdict {example.option!r}, worth {example.value:.3g}, has no equivalent on "
            "the template's scale."
        )
    if bool(row.criterion) != is_criterion_template(row.template.text):
        found["criterion"] = (
            "it is about one criterion, but the template judges tests as a whole."
            if row.criterion
            else "it is about a test as a whole, but the template asks about one criterion."
        )
    return [f"Example of test {example.test.pk}: {problem}" for problem in found.values()]


def _content(row: TemplateExample) -> tuple[object, ...]:
    return (row.test_id, row.option, *(getattr(row, name) for name in row.sealed_fields))


def copy_along(source: JudgeTemplate, draft: JudgeTemplate) -> None:
    """Copy examples and prompt variants of the last version to a new one."""
    rows: list[Any] = [*source.examples.all(), *source.variants.all()]
    for row in rows:
        row.pk, row.template = None, draft
        row._state.adding = True
        row.save()


def problems_of_examples(template: JudgeTemplate) -> list[str]:
    """List the problems of a draft's examples and prompt variants."""
    problems = [
        f"Example {number}: {problem}"
        for number, row in enumerate(template.examples.select_related("test"), 1)
        for problem in row.problems().values()
    ]
    for variant in template.variants.select_related("language_model"):
        problems += [f"Prompt for {variant.language_model}: {p}" for p in variant.problems()]
    return problems


def hidden_of(examples: Iterable[ShownExample], reader: User | AnonymousUser) -> set[int]:
    """Return the examples that this user may not read, because their test was sealed since."""
    ids = {example.pk for example in examples}
    if not ids:
        return set()
    readable = TemplateExample.objects.readable_by(reader).filter(pk__in=ids)
    return ids - set(readable.values_list("pk", flat=True))
