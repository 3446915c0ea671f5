"""Examples for the prompts of a batch, and the content that a judge labels."""

from collections.abc import Iterator
from typing import Any

from evalhub.llm.content.content_parts import content_text
from issues.content.test_content import content
from issues.drafting.prompts import Sample
from issues.drafting.settings import DraftingSettings
from issues.drafting.start import accepted_of
from issues.judge_templates.prompts import conversation_text
from issues.limits import DRAFT_EXAMPLES
from issues.models import Generation, Test
from issues.rubrics.criterion_content import CriterionContent

EXAMPLE_CHARACTERS = 3000


def examples_of(generation: Generation) -> list[Sample]:
    """Return real tests as examples, and the accepted drafts of the batch that it follows."""
    tests = generation.sources.exclude(pk=generation.test_id or 0).order_by("pk")[:DRAFT_EXAMPLES]
    samples = [sample for test in tests for sample in _of_test(test)]
    if generation.follows:
        samples += [
            Sample(
                _cut(content_text(draft.messages[-1]["content"])),
                _cut(draft.answer),
                draft.expected or draft.meant,
            )
            for draft in accepted_of(generation.follows)[:DRAFT_EXAMPLES]
            if not draft.is_pair
        ]
    return samples


def _of_test(test: Test) -> Iterator[Sample]:
    """Yield a test with each of its answers, or once without."""
    asked = _cut(conversation_text(test.messages))
    answers = {"a correct answer": test.reference, "an answer that fails": test.flagged_answer}
    given = [(text, shows) for shows, text in answers.items() if text.strip()]
    for text, shows in given or [("", "")]:
        yield Sample(asked, _cut(text), shows)


def _cut(text: str) -> str:
    return text[:EXAMPLE_CHARACTERS]


def label_content(settings: DraftingSettings, prompt: str, passage: str) -> dict[str, Any]:
    """Return a draft's content in the form of a revision, with the criterion as its rubric."""
    text = settings.criterion + (f": {settings.description}" if settings.description else "")
    rubric = [{"key": "1", **vars(CriterionContent(text))}]
    return content([{"role": "user", "content": prompt}], context=passage, criteria=rubric)
