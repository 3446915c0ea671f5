"""Judge prompts: checking templates, and rendering them with untrusted text fenced. Pure.

Templates are Jinja in a sandbox with an allow-list of syntax: output of the variables below, `if`,
`for` over a list, a few filters. Values are plain strings, never templates.
"""

import json
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from evalhub.llm.completion import AnswerTurn
from evalhub.llm.content.content_parts import content_text
from evalhub.llm.content.raw_prompt import RAW_PROMPT
from issues.judge_templates.example_selection import ShownExample, as_text
from issues.judge_templates.fences import BLOCKS, OPENING, Fenced, neutralised, nonce_of
from issues.judge_templates.syntax import (
    CRITERION_FIELDS,
    LISTS,
    names_in,
    printed_names,
    problems_in,
    syntax_problem,
)
from issues.limits import MAX_PROMPT_CHARACTERS, MAX_TEMPLATE_CHARACTERS

EXAMPLES = "examples"


class PromptError(ValueError):
    """A template or values that cannot be rendered; `problems` gives the reasons."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = list(problems)


def check_template(text: str) -> list[str]:
    """List a template's problems with line numbers; empty if it is valid."""
    try:
        parsed = _parsed(text)
    except PromptError as error:
        return error.problems
    problems = problems_in(parsed, filters=_ENVIRONMENT.filters)
    if "output" not in printed_names(parsed):
        problems.append("{{ output }} is never shown: a judge would not see what to judge")
    return problems


@lru_cache(maxsize=256)
def variables_of(text: str) -> frozenset[str]:
    """Return the variables that a template names, known or not.

    Raises:
        PromptError: The text is not a template.
    """
    return frozenset(names_in(_parsed(text)))


def render(text: str, values: Mapping[str, Any], examples: Sequence[ShownExample] = ()) -> str:
    """Render the user message for a judge.

    Input, output, reference and context are printed in blocks that their text cannot leave, and the
    prompt opens with an explanation of such blocks. Equal arguments give equal prompts.

    Args:
        text: A valid template (see `check_template`).
        values: A text for each variable; for `criteria` a list of objects with texts as fields
            (`CRITERION_FIELDS`; a missing one is empty). Unused variables are ignored.
        examples: Printed where the template names `examples`, else at the top.

    Raises:
        PromptError: The template has problems, a value is missing or of another kind, or the
            prompt would be longer than 400,000 characters.
    """
    template, names = _compiled(text)
    named = [name for name in names if name != EXAMPLES]
    used = {name: values[name] for name in named if name in values}
    if problems := _value_problems(used, named):
        raise PromptError(problems)
    taught = {EXAMPLES: [example.as_values() for example in examples]} if examples else {}
    nonce = nonce_of(used | taught)
    safe = {name: _safe(name, used[name], nonce) for name in used}
    shown = Unfiltered(as_text(examples, names, nonce))
    before = "" if EXAMPLES in names else str(shown)
    body = _within_limit(template, safe | {EXAMPLES: shown}, taken=len(before)).strip()
    opening = OPENING.format(nonce=nonce) if used.keys() & BLOCKS.keys() or examples else ""
    return "".join(f"{part}\n\n" for part in (opening, before) if part) + body


@lru_cache(maxsize=256)
def prints_context(text: str) -> bool:
    """Return whether a template prints the documents as `context`, apart from the input."""
    return "context" in printed_names(_parsed(text))


RETRIEVED = "retrieved_documents"


@lru_cache(maxsize=256)
def needs_retrieved_documents(text: str) -> bool:
    """Return whether a template prints retrieved documents without asking first if there are any.

    A judge with such a prompt cannot judge an answer without them.
    """
    parsed = _parsed(text)
    asked = {name.name for branch in parsed.find_all(nodes.If) for name in _names_of(branch.test)}
    return RETRIEVED in printed_names(parsed) and RETRIEVED not in asked


def _names_of(node: nodes.Node) -> Iterator[nodes.Name]:
    yield from node.find_all(nodes.Name)
    if isinstance(node, nodes.Name):
        yield node


def documents_text(documents: Sequence[Mapping[str, Any]]) -> str:
    """Return retrieved documents as judges read them: numbered, with their titles."""
    return "\n\n".join(
        f"{number}. {document['title']}".rstrip() + f"\n{document['text']}"
        for number, document in enumerate(documents, 1)
    )


def conversation_text(
    messages: Sequence[Mapping[str, Any]], *, generated: Container[int] = ()
) -> str:
    """Return a conversation as judges read it; a single user message or raw prompt as it is.

    Turns are numbered and named by role, and their lines indented, so that no line in a turn can
    pose as the start of another. Tool calls are written as `name(arguments)`.

    Args:
        messages: Objects with role and content; content may be null, or a list of parts.
        generated: Positions of the candidate's turns; they are marked.
    """
    if len(messages) == 1 and messages[0].get("role") in ("user", RAW_PROMPT):
        return "\n".join(_contents(messages[0]))
    lines = []
    for position, message in enumerate(messages):
        mark = " (generated)" if position in generated else ""
        lines.append(f"{position + 1}. {message.get('role', 'unknown')}{mark}:")
        for text in list(_contents(message)) or ["(nothing)"]:
            lines += ["    " + line for line in text.splitlines()]
    return "\n".join(lines)


def _contents(message: Mapping[str, Any]) -> Iterator[str]:
    if text := content_text(message.get("content")):
        yield text
    for call in message.get("tool_calls") or []:
        function = call.get("function") or call
        arguments = function.get("arguments", "")
        given = arguments if isinstance(arguments, str) else json.dumps(arguments)
        yield f"tool call: {function.get('name', 'unknown')}({given})"
    if refusal := message.get("refusal"):
        yield f"refusal: {refusal}"


def turn_text(turn: AnswerTurn) -> str:
    """Return all of a generated turn in one form, for people, files and judges.

    It is the text as it is where there is nothing else. Reasoning is not judged.
    """
    parts = [turn.text, *turn.images] if turn.images else turn.text
    said = {"content": parts, "tool_calls": turn.tool_calls, "refusal": turn.refusal}
    return "\n".join(_contents(said))


def output_text(turns: Sequence[AnswerTurn]) -> str:
    """Return all generated turns: the text to judge. A turn that broke off says how."""
    ends = [f"\n[{turn.ending.words}]" if turn.ending else "" for turn in turns]
    return "\n\n".join(turn_text(turn) + end for turn, end in zip(turns, ends, strict=True))


def tools_text(tools: Sequence[Mapping[str, Any]]) -> str:
    """Return the tools that a model was offered, as judges read them after the conversation."""
    lines = []
    for tool in tools:
        function = tool.get("function") or tool
        described = f": {text}" if (text := function.get("description")) else ""
        parameters = json.dumps(function.get("parameters") or {}, ensure_ascii=False)
        lines.append(f"- {function.get('name', 'unknown')} {parameters}{described}")
    return "\n".join(["", "", "Tools that the model could call:", *lines]) if lines else ""


class Unfiltered(str):
    """A text with blocks, which filters leave as it is."""

    __slots__ = ()


def _filter(change: Any) -> Any:
    """Wrap a text filter so that it keeps fenced text fenced."""

    def filtered(value: str) -> str:
        if isinstance(value, Unfiltered):
            return value
        text: str = change(str(value))
        return value.changed(text) if isinstance(value, Fenced) else text

    return filtered


_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined,
    finalize=lambda value: value.block() if isinstance(value, Fenced) else value,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,
)
_ENVIRONMENT.globals.clear()
_ENVIRONMENT.tests.clear()
_ENVIRONMENT.filters.clear()
_ENVIRONMENT.filters.update(
    trim=_filter(str.strip), upper=_filter(str.upper), lower=_filter(str.lower), length=len
)


def _parsed(text: str) -> nodes.Template:
    if len(text) > MAX_TEMPLATE_CHARACTERS:
        limit = f"more than the {MAX_TEMPLATE_CHARACTERS:,} that it may have"
        raise PromptError([f"the template has {len(text):,} characters, {limit}"])
    try:
        parsed = _ENVIRONMENT.parse(text)
        names_in(parsed)  # goes as deep as anything that looks into it
        return parsed
    except TemplateError as error:
        raise PromptError([syntax_problem(error)]) from error
    except RecursionError as error:
        raise PromptError(["the template is nested too deeply"]) from error


@lru_cache(maxsize=128)
def _compiled(text: str) -> tuple[Template, list[str]]:
    parsed = _parsed(text)
    if problems := problems_in(parsed, filters=_ENVIRONMENT.filters):
        raise PromptError(problems)
    return _ENVIRONMENT.from_string(text), sorted(names_in(parsed))


def _value_problems(used: Mapping[str, Any], named: Collection[str]) -> list[str]:
    missing = [f"the template needs a value for {name!r}" for name in named if name not in used]
    return missing + [
        f"{name!r} must be {'a list of objects of texts' if name in LISTS else 'a text'}, "
        f"not {type(value).__name__}"
        for name, value in used.items()
        if not (_is_list_of_texts(value) if name in LISTS else isinstance(value, str))
    ]


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, Mapping)
        and set(item) <= set(CRITERION_FIELDS)
        and all(isinstance(field, str) for field in item.values())
        for item in value
    )


def _safe(name: str, value: Any, nonce: str) -> Any:
    if name in BLOCKS:
        return Fenced(value, name=name, nonce=nonce)
    if name in LISTS:
        return [
            {field: neutralised(item.get(field, "")) for field in CRITERION_FIELDS}
            for item in value
        ]
    return neutralised(value)


def _within_limit(template: Template, values: Mapping[str, Any], *, taken: int) -> str:
    pieces, length = [], taken
    for piece in template.generate(values):
        length += len(piece)
        if length > MAX_PROMPT_CHARACTERS:
            shown = {name: len(value) for name, value in values.items() if value}
            sizes = ", ".join(f"{name} {size:,}" for name, size in shown.items())
            limit = f"longer than {MAX_PROMPT_CHARACTERS:,} characters"
            raise PromptError([f"the prompt would be {limit} ({sizes}): shorten one of these"])
        pieces.append(piece)
    return "".join(pieces)
