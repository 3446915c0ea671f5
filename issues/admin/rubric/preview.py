"""Preview of a rubric: judge prompts and possible scores, for a saved or unsaved test."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import QueryDict

from issues.admin.rubric.criterion_form import CriterionForm
from issues.admin.test.form import TestForm
from issues.checks import CHECKS
from issues.content.revisions import scale_of
from issues.content.test_content import SHOWN_TEXTS
from issues.judge_templates.lifecycle import rubric_templates
from issues.judge_templates.preview import preview, sample_answer
from issues.judge_templates.prompts import PromptError
from issues.limits import MAX_CRITERIA
from issues.models import Criterion, Test
from issues.rubrics.draft import Draft
from issues.rubrics.possible_scores import in_words, possible_scores
from issues.rubrics.scales import ScaleError, passes

PREFIX = "criteria"
APPROACHES = {
    "standard": "sees only the output",
    "prompt_aware": "sees the input",
    "holistic": "sees the input and the whole rubric",
}
INPUT, BESIDE = ("messages", "system_prompt", "prompt"), ("tools", "context")
NO_MESSAGES = [{"role": "user", "content": "(the question)"}]


def draft_of(sent: QueryDict) -> Draft:
    """Return the test in a sent form; reads only templates from the database."""
    form = TestForm(sent, instance=Test())
    form.is_valid()
    data: Mapping[str, Any] = form.cleaned_data
    points, problems = _sent_points(sent)
    wrong = [str(problem) for name in INPUT for problem in form.errors.get(name, ())]
    unsent = [str(problem) for name in BESIDE for problem in form.errors.get(name, ())]
    content = {
        "messages": (None if wrong else data.get("messages")) or NO_MESSAGES,
        "tools": data.get("tools") or [],
        **{name: data.get(name) or "" for name in SHOWN_TEXTS},
        "criteria": [point.as_content() for point in points],
    }
    return Draft(
        content,
        points,
        data.get("template"),
        data.get("pass_threshold"),
        sample_answer(form.instance),
        problems,
        flagged_answer=data.get("flagged_answer") or "",
        input_problems=(*wrong, *unsent),
    )


def sent_criteria(sent: QueryDict, form_class: type[CriterionForm]) -> list[CriterionForm]:
    """Return the validated forms of the sent criteria, in order, without deleted and empty ones."""
    total = sent.get(f"{PREFIX}-TOTAL_FORMS", "")
    count = min(int(total), MAX_CRITERIA) if total.isascii() and total.isdecimal() else 0
    prefixes = [f"{PREFIX}-{number}" for number in range(count)]
    kept = [prefix for prefix in prefixes if not sent.get(f"{prefix}-DELETE")]
    forms = [form_class(sent, prefix=prefix, instance=Criterion()) for prefix in kept]
    for form in forms:
        form.is_valid()
    forms = [form for form in forms if form.instance.text or form.instance.check_name]
    return sorted(forms, key=lambda form: form.instance.order or MAX_CRITERIA + 1)


def problems_of_criteria(forms: Iterable[CriterionForm]) -> list[str]:
    return [
        f"Criterion {place}: {message}"
        for place, form in enumerate(forms, 1)
        for messages in form.errors.values()
        for message in messages
    ]


def _sent_points(sent: QueryDict) -> tuple[list[Criterion], list[str]]:
    """Return the sent criteria in order, keyed by place, and what is wrong with them."""
    forms = sent_criteria(sent, CriterionForm)
    for place, form in enumerate(forms, 1):
        form.instance.key = str(place)
    return [form.instance for form in forms], problems_of_criteria(forms)


def context_of(draft: Draft, *, asked: str, approach: str) -> dict[str, Any]:
    """Return the context of `issues/rubric_preview.html`; `asked` is a criterion's place."""
    approach = approach if approach in APPROACHES else "prompt_aware"
    point = next((p for p in draft.points if p.key == asked), None)
    point = point or next((p for p in draft.points if not p.check_name), None)
    return {
        "count": len(draft.points),
        "problems": draft.problems,
        **_figures(draft),
        "points": draft.points,
        "approaches": APPROACHES.items(),
        "approach": approach,
        "asked": point,
        **(_question(draft, point, approach) if point else {}),
    }


def _figures(draft: Draft) -> dict[str, Any]:
    """Explain the weighting, and score a perfect, a half and an empty answer."""
    points = [point.point(None) for point in draft.points]
    scale = scale_of(draft.template)
    own = draft.own_threshold
    threshold = scale.threshold if own is None else own
    runnable = {"", *(name for name, check in CHECKS.items() if check.can_run)}
    unscored = [p.key for p in draft.points if p.check_name not in runnable]
    expected = possible_scores(points, scale.passes, unscored)
    figures = [(each, passes(each.score, threshold, scale.rule)) for each in expected]
    return {
        "figures": figures,
        "words": in_words(points),
        "threshold": f"{threshold:.3g}",
        "strict": scale.rule == "strict",
        "empty_passes": bool(figures[-1][1]),
        "perfect_fails": bool(points) and figures[0][1] is False,
        "unscored": unscored,
    }


def _question(draft: Draft, point: Criterion, approach: str) -> dict[str, Any]:
    """Return the prompt of a judge with this approach; a check has none."""
    if point.check_name:
        return {"check": CHECKS.get(point.check_name)}
    template = rubric_templates().get(approach)
    if template is None:
        return {"prompt_problems": ["No judge template is published for this approach."]}
    try:
        case = (template, draft.content, draft.answer, point.key)
        prompt = preview(*case, test_id=draft.test_id, reader=draft.reader)
    except (PromptError, ScaleError) as error:
        return {"prompt_problems": error.problems}
    return {"prompt": prompt, "wording": template}
