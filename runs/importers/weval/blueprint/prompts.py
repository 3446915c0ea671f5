"""Prompts of a blueprint: messages, rubric, weight. Pure."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from evalhub.llm.content.content_parts import content_problem
from evalhub.llm.content.raw_prompt import RAW_PROMPT
from evalhub.values.digest import digest
from evalhub.values.strict_json import excerpt
from issues.content.message_form import turns_to_generate
from issues.content.test_content import FIELDS
from issues.limits import MAX_CRITERIA
from issues.rubrics.criterion_content import SHOULD, SHOULD_NOT
from runs.importers.weval.blueprint.points import PointReader
from runs.importers.weval.blueprint.records import Json, Point, Prompt
from runs.importers.weval.blueprint.section_reader import Log, Section, as_fields, line_of, plain
from runs.importers.weval.blueprint.yaml_reader import Fields, Items

PROMPT = ("prompt", "promptText")
RUBRIC = ("should", "points", "expect", "expects", "expectations")
IDEAL = ("ideal", "idealResponse")
WEIGHT = ("weight", "importance", "multiplier")
ROLES = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "tool": "tool",
    RAW_PROMPT: RAW_PROMPT,
}
SHORTHAND = ("user", "assistant", "ai", "system")
MESSAGE_KEYS = ("role", "content", "name", "tool_call_id", "tool_calls")
RENDERED = ("markdown", "html", "plaintext")
TOOL_LIMITS = ("requiredTools", "prohibitedTools", "maxCalls")
OWN_TEXTS = tuple(
    field.name for field in FIELDS if field.kind is str and field.name not in ("reference", "note")
)
"""Our texts that are unknown to Weval. They are written under the key `evalhub`, as are the name of
the template and the pass threshold."""

NOTHING = "none"
"""Template of tests without one."""

MAX_ID = 120


@dataclass(frozen=True)
class Inherited:
    """Header fields for all prompts. `definitions` are points by name."""

    definitions: Fields
    render_as: str
    no_cache: bool


@dataclass(frozen=True)
class Draft:
    """A prompt and its own system prompt, which may be none (""); None: the header's applies."""

    prompt: Prompt
    line: int | None
    system: str | None


def read_prompts(items: Items, inherited: Inherited, log: Log) -> list[Draft]:
    """Return all prompts, with unique ids."""
    drafts: list[Draft] = []
    first: dict[str, int | None] = {}
    unnamed: dict[str, int] = {}
    given = {_id(as_fields(item)) for item in items if isinstance(item, dict)}
    for number, item in enumerate(items):
        line = line_of(items, number)
        if not isinstance(item, dict):
            log.problem(line, "", f"expected a prompt, that is an object, not {excerpt(item)}.")
            continue
        draft = _read_prompt(as_fields(item), number, inherited, log)
        if not draft.prompt.id:
            draft = _named_by_content(draft, unnamed)
        name = draft.prompt.id
        if name in first:
            at = f" at line {first[name]}" if first[name] else ""
            draft = _renamed(draft, {*given, *first})
            new = excerpt(draft.prompt.id)
            log.warn(line, name, f"the id {excerpt(name)} is already taken{at}: imported as {new}.")
            name = draft.prompt.id
        first.setdefault(name, line)
        drafts.append(draft)
    return drafts


def _named_by_content(draft: Draft, unnamed: dict[str, int]) -> Draft:
    """Derive the id from the request, so that another rubric leaves it the same test."""
    request = digest([draft.prompt.messages, draft.system or ""])[:12]
    unnamed[request] = unnamed.get(request, 0) + 1
    suffix = f"-{unnamed[request]}" if unnamed[request] > 1 else ""
    return replace(draft, prompt=replace(draft.prompt, id=f"hash-{request}{suffix}"))


def _renamed(draft: Draft, taken: Collection[str]) -> Draft:
    """Return the prompt with the first free id of `id-2`, `id-3` and so on."""
    name = draft.prompt.id
    suffixes = (f"-{number}" for number in count(2))
    ids = (name[: MAX_ID - len(suffix)] + suffix for suffix in suffixes)
    free = next(other for other in ids if other not in taken)
    return replace(draft, prompt=replace(draft.prompt, id=free))


def _read_prompt(fields: Fields, number: int, inherited: Inherited, log: Log) -> Draft:
    name = _id(fields)
    section = Section(fields, log, name or f"prompt {number + 1}")
    section.given("id")
    system = _system(section)
    if name and len(name) > MAX_ID:
        section.problem("id", f"has {len(name)} characters; the limit is {MAX_ID}.")
    prompt = Prompt(
        id=name,
        messages=_messages(section),
        description=section.text("description").strip(),
        reference=section.text(*IDEAL),
        weight=section.weight(*WEIGHT),
        points=_points(section, inherited),
        own=_own(section),
        extras=_extras(section, inherited),
    )
    if not (prompt.points or prompt.reference.strip() or prompt.own.get("guidelines")):
        section.note("", "has neither points nor an ideal answer: only annotators can evaluate it.")
    elif not prompt.points and not prompt.own:
        section.note(
            "", "has an ideal answer but no points: it is judged as a whole against that answer."
        )
    return Draft(prompt, section.line(), system if "system" in fields else None)


def _id(fields: Fields) -> str:
    value = fields.get("id")
    return "" if value is None or isinstance(value, dict | list) else str(value).strip()


def _system(section: Section) -> str:
    if isinstance(section.value("system"), list):
        section.problem(
            "system", "a prompt has one system prompt; to try several, list them in the header."
        )
        return ""
    return section.text("system")


# Messages ----------------------------------------------------------------------------------------


def _messages(section: Section) -> list[Json]:
    name = section.given(*PROMPT)
    if name:
        if section.given("messages"):
            section.problem("messages", f"are given beside {name}: use one of the two.")
        text = section.text(*PROMPT)
        if isinstance(section.fields[name], str) and not text.strip():
            section.problem(name, "is empty.")
        return [{"role": "user", "content": text}]
    items = section.items("messages")
    if not items:
        section.problem("", "is empty: add a prompt, or messages.")
        return []
    messages = [_message(item, line_of(items, n), section) for n, item in enumerate(items)]
    if all(messages) and not turns_to_generate(messages):
        section.problem("messages", "has no turn to answer: end with a user message.")
    return messages


def _message(item: Any, line: int | None, section: Section) -> Json:
    """Return the message; empty if it is wrong."""

    def wrong(message: str) -> Json:
        section.log.problem(line, section.prompt, message)
        return {}

    if not isinstance(item, dict):
        return wrong(f"expected a message, not {excerpt(item)}.")
    more: Json = {}
    if "role" in item or "content" in item:
        role, content = item.get("role"), item.get("content")
        more = {key: plain(item[key]) for key in MESSAGE_KEYS[2:] if item.get(key) is not None}
        if unknown := sorted(set(item) - set(MESSAGE_KEYS)):
            wrong(f"unknown fields of a message: {', '.join(unknown)}.")
    elif len(item) == 1 and next(iter(item)) in SHORTHAND:
        ((role, content),) = item.items()
    else:
        expected = f"a message with one of {', '.join(SHORTHAND)}, or with role and content"
        return wrong(f"expected {expected}, not {excerpt(item)}.")
    if not isinstance(role, str) or role not in ROLES:
        return wrong(f"{excerpt(role)} is not a role: expected one of {', '.join(ROLES)}.")
    has_text = isinstance(content, str) and bool(content.strip())
    if isinstance(content, list) and "content" in item:  # parts, which only EvalHub writes
        content = plain(content)
        if problem := content_problem(role, content):
            return wrong(problem)
        has_text = True
    if not has_text and not (ROLES[role] == "assistant" and content is None):
        return wrong(f"a {role} message needs text, not {excerpt(content)}.")
    return {"role": ROLES[role], "content": content, **more}


# Points and the rest -----------------------------------------------------------------------------


def _points(section: Section, inherited: Inherited) -> tuple[Point, ...]:
    reader = PointReader(inherited.definitions, section.log, section.prompt)
    should, should_not = section.items(*RUBRIC), section.items("should_not")
    points = (*reader.block(should, SHOULD), *reader.block(should_not, SHOULD_NOT))
    if len(points) > MAX_CRITERIA:
        section.problem("", f"has {len(points)} points; the limit is {MAX_CRITERIA}.")
    return points


def _own(section: Section) -> Json:
    found = Section(section.mapping("evalhub"), section.log, section.prompt)
    texts = {key: found.text(key) for key in (*OWN_TEXTS, "template")}
    threshold = found.number("pass_threshold", 0, 1)
    for key in found.rest():
        found.note(key, f"the field evalhub.{key} is unknown and ignored.")
    own: Json = {key: text for key, text in texts.items() if text}
    return own if threshold is None else {**own, "pass_threshold": threshold}


def _extras(section: Section, inherited: Inherited) -> Json:
    """Return fields without a place of their own, normalized under Weval's names."""
    found: Json = {}
    if citation := section.references("citation", "reference"):
        found["citation"] = citation
    rendered = render_as(section) or inherited.render_as
    if rendered != RENDERED[0]:
        section.note("render_as", f"answers are shown as text, not rendered as {rendered}.")
        found["render_as"] = rendered
    no_cache = section.flag("noCache")
    if inherited.no_cache if no_cache is None else no_cache:
        found["noCache"] = True
    temperature = section.number("temperature", 0, 2)
    if temperature is not None:
        section.note("temperature", "its temperature is not applied: launches set it.")
        found["temperature"] = temperature
    for name in TOOL_LIMITS:
        if section.given(name):
            section.note(name, f"{name} is kept but not enforced: add a check instead.")
            found[name] = plain(section.fields[name])
    for name, value in section.rest().items():
        section.note(name, f"the field {excerpt(name)} of a prompt is unknown: kept, not used.")
        found[name] = value
    return found


def render_as(section: Section) -> str:
    """Return the rendering of answers; "" if unset."""
    value = section.text("render_as")
    if value and value not in RENDERED:
        section.expected("render_as", f"one of {', '.join(RENDERED)}", value)
        return ""
    return value


def normal_tag(text: str) -> str:
    """Normalize a tag to lower case and hyphens, except those with a leading _."""
    text = text.strip()
    if text.startswith("_"):
        return text
    return re.sub(r"[^\w-]", "", re.sub(r"[\s_]+", "-", text.lower()))
