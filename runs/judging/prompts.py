"""Judge prompts from frozen rows, the same for the worker and for pages."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evalhub.llm.completion import AnswerTurn
from evalhub.llm.content.content_parts import IMAGE, Part, all_images, shown_with
from evalhub.llm.verdicts.judge_replies import (
    ParsedVerdict,
    Unreadable,
    parse_label,
    parse_verdict,
    verdict_schema,
)
from issues.content.conversation import Message
from issues.judge_templates.example_selection import NO_EXAMPLES, Choice, ExampleQuery, Examples
from issues.judge_templates.examples import examples_of
from issues.judge_templates.preview import judge_prompt, shown_conversation
from issues.judge_templates.prompts import PromptError, output_text, variables_of
from issues.models import JudgeTemplate, ReplyForm
from issues.rubrics.scales import Scale, from_json

NO_IMAGE = "The answer has an image that was not kept, so nothing is judged"


@dataclass(frozen=True)
class JudgePromptTemplate:
    """A template's text with its scale, and the schema of a reply on that scale.

    `schema` is None if the reply is a label of the scale and nothing else. `template_id` is the
    template that it copies. `variants` are the prompt variants, by language model.
    """

    text: str
    scale: Scale
    schema: dict[str, Any] | None
    template_id: int
    examples: Examples = NO_EXAMPLES
    variants: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, template: JudgeTemplate) -> "JudgePromptTemplate":
        scale = from_json(template.scale)
        is_label = template.reply_form == ReplyForm.LABEL
        schema = None if is_label else verdict_schema(scale.options)
        rows = template.variants.all() if template.pk else ()
        variants = {row.language_model_id: row.text for row in rows}
        examples = examples_of(template)
        return cls(template.text, scale, schema, template.pk, examples, variants)

    def text_for(self, language_model_id: int | None) -> str:
        """Return the text for this language model: its variant, or the template's."""
        return self.variants.get(language_model_id or 0, self.text)

    @property
    def example_tests(self) -> set[int]:
        """Return the tests of all its examples."""
        return {row.test_id for row in self.examples.rows if row.test_id is not None}

    def reversed(self) -> "JudgePromptTemplate":
        """Return the template with its options in reversed order; they keep their values."""
        scale = replace(self.scale, options=self.scale.options[::-1])
        schema = verdict_schema(scale.options) if self.schema else None
        return replace(self, scale=scale, schema=schema)

    def read(self, reply: str) -> ParsedVerdict | Unreadable:
        """Return the verdict in a judge's reply."""
        parse = parse_verdict if self.schema else parse_label
        return parse(reply, self.scale.options)


@dataclass(frozen=True)
class JudgedAnswer:
    """An answered result as judges see it. `turns` are the generated ones in order.

    The one place that says what judges are shown of an answer (`issues.judge_templates.prompts`
    has its form).

    `test_id` is the test whose examples are left out; None if it is of no stored test. `documents`
    are those that an application retrieved; None: not reported.
    """

    content: dict[str, Any]
    system_prompt: str
    turns: Sequence[AnswerTurn]
    test_id: int | None = None
    documents: Sequence[Mapping[str, Any]] | None = None
    rendered: dict[tuple[str, str], tuple[JudgePromptTemplate, str]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """The last prompt by text and criterion, for judges of one criterion mostly read the same."""

    @property
    def output(self) -> str:
        """Return all turns of the candidate: the text to judge."""
        return output_text(self.turns)

    def images(self, shown: Collection[str]) -> list[Part]:
        """Return the images of what a prompt with these variables shows.

        Raises:
            PromptError: An image of the answer is not stored here, so no judge could see it.
        """
        asked = all_images(self.content["messages"]) if "input" in shown else []
        given = images_of(self.turns) if "output" in shown else []
        return [*asked, *(part for part in given if part not in asked)]

    @property
    def input(self) -> str:
        """Return the conversation up to the last generated turn, without the documents."""
        return self.conversation(None)

    def conversation(self, text: str | None) -> str:
        """Return the conversation as the judge prompt with this text shows it."""
        system_prompt = self.system_prompt
        return shown_conversation(
            self.content, self.turns[:-1], text=text, system_prompt=system_prompt
        )


def images_of(turns: Sequence[AnswerTurn]) -> list[Part]:
    """Return the images of generated turns; raise PromptError if one is not stored here."""
    found = [part for turn in turns for part in turn.images]
    if lost := [part for part in found if part.get("type") != IMAGE]:
        raise PromptError([f"{NO_IMAGE} ({lost[0].get('alt') or 'no address'})"])
    return found


def examples_for(prompt_template: JudgePromptTemplate, case: JudgedAnswer, key: str) -> Choice:
    """Return the examples shown with this case, for the criterion with this key."""
    return prompt_template.examples.for_query(
        ExampleQuery(case.test_id, case.input, case.output, bool(key))
    )


def messages_for(
    prompt_template: JudgePromptTemplate,
    case: JudgedAnswer,
    key: str,
    *,
    language_model_id: int | None = None,
    role: str = "",
) -> list[Message]:
    """Return a judge's messages on the criterion with this key.

    A prompt is followed by the images of the conversation and of the answer, as far as it shows
    these. Equal arguments give equal messages.

    Args:
        language_model_id: The judge's, for which the template may have a variant.
        role: The judge's; it comes first, as a system message.
    """
    text = prompt_template.text_for(language_model_id)
    template, prompt = case.rendered.get((text, key), (None, ""))
    if template is not prompt_template:
        prompt = _prompt(prompt_template, text, case, key)
        case.rendered[text, key] = prompt_template, prompt
    images = case.images(variables_of(text))
    question: Message = {"role": "user", "content": shown_with(prompt, images)}
    return [{"role": "system", "content": role}, question] if role else [question]


def _prompt(template: JudgePromptTemplate, text: str, case: JudgedAnswer, key: str) -> str:
    return judge_prompt(
        text,
        template.scale,
        case.content,
        conversation=case.conversation(text),
        output=case.output,
        key=key,
        examples=examples_for(template, case, key).examples,
        documents=case.documents,
    )
