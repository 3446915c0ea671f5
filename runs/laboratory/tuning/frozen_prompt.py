"""A draft's prompt by copy, so that later edits do not change an attempt."""

from typing import Any

from evalhub.llm.verdicts.judge_replies import verdict_schema
from issues.judge_templates.example_selection import Examples
from issues.judge_templates.examples import shown
from issues.models import JudgeTemplate, ReplyForm, TemplateExample
from issues.rubrics.scales import from_json
from runs.judging.prompts import JudgePromptTemplate

FIELDS = ("text", "scale", "reply_form", "example_choice", "examples_shown", "repair_model_id")
EXAMPLE_FIELDS = (
    *("test_id", "input", "output", "reference", "guidelines"),
    *("criterion", "option", "justification"),
)


def frozen(template: JudgeTemplate) -> dict[str, Any]:
    """Return everything that shapes the template's prompts and the parsing of replies, as JSON."""
    variants = template.variants.order_by("language_model").values_list("language_model", "text")
    return {
        **{name: getattr(template, name) for name in FIELDS},
        "variants": [list(pair) for pair in variants],
        "examples": [
            {name: getattr(row, name) for name in EXAMPLE_FIELDS} for row in template.examples.all()
        ],
    }


def tests_of(content: dict[str, Any]) -> set[int]:
    """Return the tests whose answers are examples in it."""
    return {row["test_id"] for row in content["examples"]} - {None}


def prompt_template_of_content(content: dict[str, Any], template_id: int) -> JudgePromptTemplate:
    """Rebuild the prompt template that `frozen` copied."""
    scale = from_json(content["scale"])
    is_label = content["reply_form"] == ReplyForm.LABEL
    rows = [TemplateExample(pk=n, **row) for n, row in enumerate(content["examples"], 1)]
    return JudgePromptTemplate(
        text=content["text"],
        scale=scale,
        schema=None if is_label else verdict_schema(scale.options),
        template_id=template_id,
        examples=Examples(
            tuple(shown(row, scale, is_label=is_label) for row in rows),
            content["example_choice"],
            content["examples_shown"],
        ),
        variants=dict(content["variants"]),
    )
