"""Contents of a workbench: its prompt, criteria and judges, opened and edited."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.models import User
from evalhub.refusals import Refused
from issues.judge_templates.builtin import prompt_of_question
from issues.judge_templates.lifecycle import RUBRIC_FAMILIES
from issues.models import Criterion, JudgeTemplate, LibraryCriterion, TemplateState, Test
from issues.models.criterion import new_key
from issues.models.template import is_criterion_template
from issues.rubrics.library.content import ROLES
from issues.rubrics.library.entries import UNJUDGED
from issues.rubrics.scales import Scale, from_json
from issues.rubrics.scoring import WHOLE_TEST
from runs.laboratory.pairwise.models import MAX_CRITERION
from runs.laboratory.workbench.judges import judge_models, templates_to_choose
from runs.laboratory.workbench.models import Workbench
from runs.laboratory.workbench.rows import add_rows, rows_of_test
from runs.limits import MAX_WORKBENCH_SAMPLES
from runs.models import Jury, Method
from runs.models.jury import MAX_ROLE

WHOLE_FAMILY = "input-output-guidelines"
BLANK = Criterion()


def default_template(*, on_criteria: bool) -> JudgeTemplate:
    """Return the built-in template for criteria or for whole answers, else any such one.

    Raises:
        Refused: None is published.
    """
    family = RUBRIC_FAMILIES["prompt_aware"] if on_criteria else WHOLE_FAMILY
    published = templates_to_choose(on_criteria=on_criteria)
    found = [each for each in published if each.family == family] or published
    if not found:
        raise Refused(["No judge template is published. Publish one first."])
    return found[0]


def take_template(bench: Workbench, template: JudgeTemplate) -> None:
    """Take prompt and scale of a template, unsaved; a draft is the one to go on with."""
    is_draft = template.state == TemplateState.DRAFT
    bench.source, bench.draft = (None, template) if is_draft else (template, None)
    bench.text, bench.scale = template.text, template.scale
    bench.reply_form = template.reply_form


def content_with(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a criterion's content with defaults and a key, without a target option."""
    content = BLANK.as_content() | {"target": ""} | dict(fields)
    return content | {"key": content["key"] or new_key()}


# Opening ------------------------------------------------------------------------------------------


def new_bench(user: User, *, name: str, template: JudgeTemplate | None = None) -> Workbench:
    bench = Workbench(name=name[:150], owner=user)
    take_template(bench, template or default_template(on_criteria=False))
    model = judge_models().first()
    bench.judges = {"models": [model.pk] if model else []}
    bench.save()
    return bench


def bench_of_template(template: JudgeTemplate, user: User) -> Workbench:
    bench = new_bench(user, name=str(template), template=template)
    if is_criterion_template(template.text):
        bench.criteria = [content_with({"text": "(the criterion)"})]
        bench.save()
    return bench


@transaction.atomic
def bench_of_test(test: Test, user: User, *, key: str = "") -> Workbench:
    """Open a test, or one criterion of it, with its reference and flagged answer as rows."""
    criteria = [c.as_content() for c in test.criteria.all() if not key or c.key == key]
    on_criteria = any(not each["check"] for each in criteria)
    own = test.template if test.template and not criteria else None
    template = own or default_template(on_criteria=on_criteria)
    bench = new_bench(user, name=f"Test {test.pk}", template=template)
    bench.criteria = [content_with(each) for each in criteria]
    bench.test = test
    bench.save()
    scale = from_json(bench.scale)
    add_rows(bench, rows_of_test(test, {} if criteria else _extremes(scale)))
    return bench


def _extremes(scale: Scale) -> dict[bool, str]:
    """Return the only passing and the only failing option; {} where there are several."""
    by_outcome: dict[bool, list[str]] = {True: [], False: []}
    for option in scale.options:
        by_outcome[bool(scale.passes(option.value))].append(option.label)
    if any(len(labels) != 1 for labels in by_outcome.values()):
        return {}
    return {outcome: labels[0] for outcome, labels in by_outcome.items()}


@transaction.atomic
def bench_of_library(entry: LibraryCriterion, user: User) -> Workbench:
    """Open a library criterion as a prompt with its options, and its examples as rows.

    One that compares two answers says what makes an answer better.
    """
    bench = new_bench(user, name=entry.name, template=None)
    if entry.scale is None:
        bench.judges["better"] = entry.question
    elif entry.check_name:
        take_template(bench, default_template(on_criteria=True))
        content = {"check": entry.check_name, "arguments": entry.arguments}
        bench.criteria = [content_with({"text": entry.question, **content})]
    else:
        bench.source, bench.scale = None, entry.scale
        bench.text = prompt_of_question(entry.question, entry.judged_text)
    bench.save()
    examples = [entry.examples[role] for role in ROLES if role in entry.examples]
    is_judged = entry.scale is not None and not entry.check_name
    add_rows(bench, [row for example in examples for row in _rows_of(example, is_judged=is_judged)])
    return bench


def _rows_of(example: Mapping[str, str], *, is_judged: bool) -> list[dict[str, Any]]:
    """Return an example's answer as a row, and the other one of a pair."""
    asked = example.get("input", "")
    row = {
        "messages": [{"role": "user", "content": asked}] if asked else [],
        "answer": example.get("answer") or UNJUDGED,
        "context": example.get("context", ""),
        "reference": example.get("reference", ""),
        "expected": {WHOLE_TEST: example["option"]} if is_judged else {},
    }
    return [row, *([{**row, "answer": example["other"]}] if example.get("other") else [])]


# Editing ------------------------------------------------------------------------------------------


def keyed(
    contents: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return criteria with keys: the one sent if it is known, else that of equal text, else new."""
    left = {old["key"]: old for old in before}
    found = []
    for content in contents:
        same = [key for key, old in left.items() if _is_same(content, old)]
        known = [content["key"]] if content["key"] in left else same
        key = known[0] if known else new_key()
        left.pop(key, None)
        found.append({**content, "key": key})
    return found


def _is_same(content: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    return all(content.get(name) == old.get(name) for name in ("text", "check", "arguments"))


def save_contents(bench: Workbench, sent: Mapping[str, Any]) -> bool:
    """Save name, sharing, prompt, scale, guidelines, criteria and judges.

    Returns:
        True if a prompt of the other kind took the place of an unedited one.

    Raises:
        ValidationError: The prompt or scale is invalid, or prompt and criteria do not fit.
    """
    for name, value in sent.items():
        setattr(bench, name, value)
    bench.judges = _known_judges(bench.judges)
    JudgeTemplate(
        family="x", title="x", text=bench.text, scale=bench.scale, reply_form=bench.reply_form
    ).clean()
    swapped = _fit_prompt(bench)
    labels = {option.label for option in from_json(bench.scale).options}
    for place, content in enumerate(bench.criteria, 1):
        target = content.get("target", "")
        if target and target not in labels:
            raise ValidationError(f"Criterion {place}: the scale has no option {target!r}.")
    bench.full_clean(exclude=["owner", "test", "source", "draft"])
    bench.save()
    return swapped


def _fit_prompt(bench: Workbench) -> bool:
    """Choose a prompt for criteria where there are some, unless the prompt was edited."""
    asks = any(not content.get("check") for content in bench.criteria)
    has_criteria = bool(bench.criteria)
    if not bench.text.strip() or is_criterion_template(bench.text) == has_criteria:
        return False
    if has_criteria and not asks:
        return False
    own = bench.draft or bench.source
    if own is None or own.text != bench.text or bench.draft:
        raise ValidationError(
            "The prompt judges whole answers, but there are criteria: show {{ criterion }} in it, "
            "or delete the criteria."
            if has_criteria
            else "The prompt asks about one criterion, but there is none: add one, or choose a "
            "prompt for whole answers."
        )
    take_template(bench, default_template(on_criteria=has_criteria))
    return True


def _known_judges(judges: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choice of judges with what exists and is active."""
    models = judge_models().filter(pk__in=judges.get("models", ()))
    templates = JudgeTemplate.objects.filter(
        pk__in=judges.get("templates", ()), state=TemplateState.PUBLISHED
    )
    jury = Jury.objects.filter(pk=judges.get("jury") or 0, is_active=True).first()
    samples = judges.get("samples") or 1
    if not 1 <= samples <= MAX_WORKBENCH_SAMPLES:
        raise ValidationError(f"Choose 1 to {MAX_WORKBENCH_SAMPLES} samples, not {samples}.")
    return {
        "models": sorted(models.values_list("pk", flat=True)),
        "templates": sorted(templates.values_list("pk", flat=True)),
        "jury": jury.pk if jury else None,
        "samples": samples,
        "method": Method(judges.get("method") or Method.SINGLE).value,
        "role": str(judges.get("role") or "").strip()[:MAX_ROLE],
        "reversed": bool(judges.get("reversed")),
        "better": str(judges.get("better") or "")[:MAX_CRITERION],
        "ties": bool(judges.get("ties", True)),
    }
