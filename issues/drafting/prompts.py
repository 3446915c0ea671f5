"""Requests to the model that drafts, and the form of each reply. Pure.

In order: the borderline option, the input (one for the whole batch), and each answer.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from issues.drafting.settings import MAX_CHARACTERS, SENTENCES, DraftingSettings, Task
from issues.judge_templates.fences import OPENING, Fenced, neutralised, nonce_of

Message = dict[str, Any]
RATIONALE = "rationale"
MAX_RATIONALE = 400
MAX_INPUT = 1200
MAX_SOURCE = 3000
"""Characters of a text to summarise."""

READS_AS = {
    Task.GENERIC: "The answer responds to this input.",
    Task.SUMMARISATION: "The answer is a summary of this text.",
    Task.QUESTION_ANSWERING: "The answer replies to this question.",
    Task.TEXT_GENERATION: "The answer is the text that this instruction asks for.",
}
INPUT_OF = {
    Task.GENERIC: "Write the input to which the answers will respond.",
    Task.SUMMARISATION: "Choose one concrete topic, and write a text of 10 to 20 sentences on it "
    "that is worth a summary.",
    Task.QUESTION_ANSWERING: "Write one question that somebody would really ask.",
    Task.TEXT_GENERATION: "Write one instruction for a text that somebody would really want.",
}


class Form(NamedTuple):
    """The fields of a reply, all of them texts, with their maximum lengths."""

    limits: dict[str, int]

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the reply."""
        return {
            "type": "object",
            "properties": {
                name: {"type": "string", "minLength": 1, "maxLength": most}
                for name, most in self.limits.items()
            },
            "required": list(self.limits),
            "additionalProperties": False,
        }

    def as_text(self) -> str:
        keys = ", ".join(f'"{name}"' for name in self.limits)
        return (
            f"Reply with one JSON object and nothing else: no code fence, no comments. Its keys "
            f"are {keys}, and each value is a text in double quotes."
        )

    @property
    def max_tokens(self) -> int:
        """Return a limit that no usual reply reaches."""
        return sum(self.limits.values()) // 2 + 300


class Request(NamedTuple):
    """A request by the name under which people read of it, and the form of its reply."""

    name: str
    messages: list[Message]
    form: Form


class Target(NamedTuple):
    """The option that an answer shall show."""

    label: str
    description: str


class Sample(NamedTuple):
    """A real test, or an accepted draft, that shows what is wanted."""

    input: str
    answer: str
    shows: str


class Material(NamedTuple):
    """Sources of a batch: examples, and a passage of a document ("": none)."""

    samples: Sequence[Sample] = ()
    passage: str = ""


def borderline_request(settings: DraftingSettings) -> Request:
    form = Form({"name": 60, "description": 600})
    prompt = f"""\
A criterion sorts texts by options. Describe one more option that lies between them: the
borderline.

{_criterion(settings)}
Options:
{settings.scale.as_text()}

Write it in the style of the options above. Say how such a text partly fits several options and
fully fits none, so that careful people would disagree about it. Give it a name of its own.

{form.as_text()}"""
    return Request("borderline option", [_user(prompt)], form)


def input_request(settings: DraftingSettings, material: Material) -> Request:
    """Ask for the input that all answers of the batch share."""
    most = MAX_SOURCE if settings.task is Task.SUMMARISATION else MAX_INPUT
    form = Form(dict.fromkeys(settings.inputs, most))
    names = ", ".join(f"“{name}”" for name in settings.inputs)
    lines = [
        f"- Fields to write: {names}. The field “{settings.answer_name}” will respond to them.",
        f"- {INPUT_OF[settings.task]}",
        "- Write real content with concrete names and figures, not a description of it.",
        *(
            ["- It must be answerable from the document below."]
            if material.passage and not settings.out_of_domain
            else []
        ),
        *_domain_lines(settings, "It will be answered by this persona"),
    ]
    prompt = f"""\
You write data to evaluate language models with. Write the input of one example.

{_criterion(settings)}
{chr(10).join(lines)}
{_material(material, answers=False)}
{form.as_text()}"""
    return Request("input", [_user(prompt)], form)


def answer_request(
    settings: DraftingSettings,
    inputs: Sequence[tuple[str, str]],
    target: Target,
    material: Material,
) -> Request:
    """Ask for one answer that shows this option."""
    rationale = RATIONALE if settings.answer_name != RATIONALE else "why"
    form = Form({settings.answer_name: MAX_CHARACTERS[settings.length], rationale: MAX_RATIONALE})
    lines = [
        f"- It must clearly show this option of the criterion: {target.label}"
        f"{f': {target.description}' if target.description else ''}",
        "- Never mention the criterion or its options in it.",
        *_domain_lines(settings, "Write as this persona"),
        *_style_lines(settings),
    ]
    given = "\n\n".join(f"{name}:\n{neutralised(text)}" for name, text in inputs)
    prompt = f"""\
You write data to evaluate language models with. Write the field “{settings.answer_name}” of one
example. Content that would be unwanted elsewhere is acceptable: it is only used to test evaluators.

{_criterion(settings)}
{chr(10).join(lines)}
{_material(material, answers=True)}
{READS_AS[settings.task]}
{given}

Write “{settings.answer_name}” first. Then say in “{rationale}”, in one sentence, why it shows the
option.
{form.as_text()}"""
    return Request("answer", [_user(prompt)], form)


def repair_request(request: Request, reply: str, problem: str) -> list[Message]:
    """Return the messages that ask for the same content in the right form."""
    again = (
        f"Your reply could not be read: {problem} Give the same content again in the right form."
    )
    return [
        *request.messages,
        {"role": "assistant", "content": reply.strip()[-8000:]},
        _user(f"{again} {request.form.as_text()}"),
    ]


def test_prompt(task: Task, inputs: Sequence[tuple[str, str]]) -> str:
    """Return the user message of a test with this input."""
    if len(inputs) > 1:
        return "\n\n".join(f"{name}:\n{text}" for name, text in inputs)
    text = inputs[0][1]
    return f"Summarise this text.\n\n{text}" if task is Task.SUMMARISATION else text


def _user(prompt: str) -> Message:
    return {"role": "user", "content": prompt}


def _criterion(settings: DraftingSettings) -> str:
    description = f"\nDescription: {settings.description}" if settings.description else ""
    return f"Criterion: {settings.criterion}{description}\n"


def _domain_lines(settings: DraftingSettings, persona: str) -> list[str]:
    lines = []
    if settings.domain and settings.out_of_domain:
        lines.append(
            f"- It must lie outside this domain, yet near enough to mislead: {settings.domain}"
        )
    elif settings.domain:
        lines.append(f"- Domain: {settings.domain}")
    return [*lines, *([f"- {persona}: {settings.persona}"] if settings.persona else [])]


def _style_lines(settings: DraftingSettings) -> list[str]:
    sentences = SENTENCES.get(settings.length)
    wanted = {
        f"Length: {sentences} sentences": sentences,
        f"Style: {settings.style}": settings.style,
        f"Sentiment: {settings.sentiment}": settings.sentiment,
        f"Noise to put in: {settings.noise}": settings.noise,
        "It matches the option only in part: one part of it shows the option, another does "
        "not": settings.partial_match,
    }
    return [f"- {line}" for line, is_wanted in wanted.items() if is_wanted]


def _material(material: Material, *, answers: bool) -> str:
    """Return examples and document in blocks that their text cannot leave; "" without any."""
    texts = {"samples": [list(sample) for sample in material.samples], "passage": material.passage}
    nonce = nonce_of(texts)
    parts = []
    for number, sample in enumerate(material.samples, 1):
        parts.append(f"Example {number}, to take as a model but not to copy:")
        parts.append(Fenced(sample.input, name="input", nonce=nonce).block())
        if answers and sample.answer:
            parts.append(Fenced(sample.answer, name="output", nonce=nonce).block())
            parts.append(f"It shows: {neutralised(sample.shows)}")
    if material.passage:
        parts.append("Document, on which everything must rest:")
        parts.append(Fenced(material.passage, name="context", nonce=nonce).block())
    return "\n".join(["", OPENING.format(nonce=nonce), *parts, ""]) if parts else ""
