"""Weval's blueprint format: a file → a blueprint, or all its problems. Pure.

A file is a header and prompts in several documents, a stream or a list of prompts, or one document
with the key `prompts`.
"""

from dataclasses import replace
from typing import Any

from evalhub.llm.content.content_parts import with_system_prompt
from evalhub.values.storable import UNSTORABLE
from evalhub.values.strict_json import excerpt
from runs.importers.weval.blueprint.prompts import (
    RENDERED,
    Draft,
    Inherited,
    normal_tag,
    read_prompts,
    render_as,
)
from runs.importers.weval.blueprint.records import (
    APPROACHES,
    DEFAULT_MODELS,
    Blueprint,
    Json,
    NamedJudge,
    Prompt,
    Reading,
    Source,
    in_order,
)
from runs.importers.weval.blueprint.section_reader import (
    Log,
    Section,
    as_fields,
    is_number,
    line_of,
    plain,
)
from runs.importers.weval.blueprint.yaml_reader import Fields, Items, YamlError, documents

OF_PROMPTS = (
    *("prompt", "promptText", "messages", "should", "should_not", "ideal", "idealResponse"),
    *("points", "expect", "expects", "expectations"),
)
"""A document with one of these is a prompt, not a header."""

RESERVED = ("_pr_", "_staging_", "_test_")
MAX_ID, MAX_TAG = 120, 100
MAX_TEMPERATURE = 2
KEPT = ("context", "embeddingModel", "concurrency", "externalServices")
"""Header fields kept unchanged."""


def read_blueprint(source: Source) -> Reading:
    """Contents of a file. The blueprint is None if there are problems."""
    log = Log(source.file)
    blueprint = None
    try:
        found, faults = documents(source.text, is_json=source.file.lower().endswith(".json"))
        for line, message in faults:
            log.problem(line, "", message)
        blueprint = _blueprint(source, found, log)
    except YamlError as error:
        log.problem(error.fault.line, "", error.fault.message)
    problems = in_order(log.problems)
    return Reading(
        source.file,
        None if problems else blueprint,
        problems,
        in_order(log.warnings),
        in_order(log.notes),
    )


def _blueprint(source: Source, found: list[Any], log: Log) -> Blueprint:
    _check_id(source.id, log)
    fields, items = _split(found, log)
    header = Section(fields, log)
    header.given("prompts")
    inherited = Inherited(
        definitions=header.mapping("point_defs", "defs"),
        render_as=render_as(header) or RENDERED[0],
        no_cache=header.flag("noCache") or False,
    )
    drafts = read_prompts(items, inherited, log)
    if not drafts:
        log.problem(None, "", "holds no prompts.")
    systems = _systems(header)
    prompts, systems = _settled(drafts, systems, header)
    title = header.text("title", "configTitle").strip() or source.id
    given = header.value("id", "configId")
    if given is not None and str(given) != source.id:
        header.note("id", f"the id {excerpt(str(given))} is ignored: the file's name is the id.")
    return Blueprint(
        id=source.id,
        title=title,
        description=header.text("description").strip(),
        tags=_tags(header),
        models=_models(header),
        systems=systems,
        temperatures=_temperatures(header),
        judges=_judges(header),
        tools=_tools(header),
        prompts=prompts,
        extras=_extras(header),
    )


def _check_id(name: str, log: Log) -> None:
    if name.endswith("__"):
        log.problem(None, "", f"{excerpt(name)} cannot be an id: it ends in __.")
    if name.startswith(RESERVED):
        log.problem(None, "", f"{excerpt(name)} cannot be an id: its prefix is reserved.")
    if not name or len(name) > MAX_ID or UNSTORABLE.search(name):
        log.problem(None, "", f"{excerpt(name)} cannot be an id: use 1 to {MAX_ID} characters.")


# Documents ---------------------------------------------------------------------------------------


def _split(found: list[Any], log: Log) -> tuple[Fields, Items]:
    """Return the header, which may be empty, and the prompts."""
    first = found[0] if found else None
    if not isinstance(first, dict) or any(first.get(key) is not None for key in OF_PROMPTS):
        return as_fields({}), _flat(found, log)
    header = as_fields(first)
    rest = _flat(found[1:], log)
    inside = header.get("prompts")
    if inside is None:
        return header, rest
    line = header.lines.get("prompts")
    if rest:
        log.problem(line, "", "prompts are in the header and after it: join them.")
    if not isinstance(inside, list):
        log.problem(line, "", f"prompts: expected a list, not {excerpt(inside)}.")
        return header, rest
    return header, _flat([inside], log)


def _flat(found: list[Any], log: Log) -> Items:
    """Return the prompts of all documents, each a prompt or a list of prompts."""
    prompts, lines = Items(), []
    for document in found:
        for number, item in enumerate(document if isinstance(document, list) else [document]):
            in_list = isinstance(document, Items)
            lines.append(line_of(document, number) if in_list else getattr(item, "line", None))
            prompts.append(item)
    known = [line for line in lines if line is not None]
    prompts.lines = known if len(known) == len(lines) else []
    return prompts


# System prompts ----------------------------------------------------------------------------------


def _systems(header: Section) -> tuple[str | None, ...]:
    """Return the system prompts to try, None for none; () if there is none at all."""
    several = header.given("systems")
    one = header.given("system", "systemPrompt")
    if several and one:
        header.problem(one, "is given beside systems: use one of the two.")
    name = several or one
    value = header.fields.get(name)
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    found = []
    for item in header.items(name) if name else ():
        if item is not None and not isinstance(item, str):
            header.expected(name, "texts, or null for none", item)
        else:
            found.append(item if item and item.strip() else None)
    for item in {item for item in found if found.count(item) > 1}:
        header.problem(name, f"{excerpt(item)} is given twice.")
    return () if found == [None] else tuple(found)


def _settled(
    drafts: list[Draft], systems: tuple[str | None, ...], header: Section
) -> tuple[tuple[Prompt, ...], tuple[str | None, ...]]:
    """Return the prompts with their system prompts, and the system prompts that remain variants.

    A prompt's own replaces the header's. A run's is put before a test's own, so where a prompt
    has its own, each gets the one that it means.
    """
    own = [draft for draft in drafts if draft.system is not None]
    if own and len(systems) > 1:
        for draft in own:
            message = "has its own system prompt, while the header lists several to try."
            header.log.problem(draft.line, draft.prompt.id, message)
    common = (systems[0] or "") if own and len(systems) == 1 else ""
    prompts = []
    for draft in drafts:
        system = common if draft.system is None else draft.system
        messages = with_system_prompt(draft.prompt.messages, system if system.strip() else "")
        prompts.append(replace(draft.prompt, messages=messages))
    return tuple(prompts), () if common else systems


# The other fields --------------------------------------------------------------------------------


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _tags(header: Section) -> tuple[str, ...]:
    found = header.each("tags", _is_text, "text", or_text=True)
    for tag in found:
        if len(tag) > MAX_TAG:
            message = f"{excerpt(tag)} is too long: the limit is {MAX_TAG} characters."
            header.problem("tags", message)
    return tuple(sorted(filter(None, {normal_tag(tag) for tag in found})))


def _models(header: Section) -> tuple[str | Json, ...]:
    def is_model(item: Any) -> bool:
        is_named = isinstance(item, dict) and isinstance(item.get("id"), str)
        return is_named or (isinstance(item, str) and bool(item.strip()))

    expected = "a model such as openai:gpt-4o-mini, or an object with its id"
    found = header.each("models", is_model, expected, or_text=True)
    found = [item.strip() if isinstance(item, str) else item for item in found]
    return tuple(item for n, item in enumerate(found) if item not in found[:n]) or DEFAULT_MODELS


def _temperatures(header: Section) -> tuple[float, ...]:
    one = header.number("temperature", 0, MAX_TEMPERATURE)
    if header.items("temperatures") and one is not None:
        header.note("temperature", "is ignored: temperatures are given.")
    expected = f"numbers from 0 to {MAX_TEMPERATURE}"
    found = header.each("temperatures", lambda n: is_number(n, 0, MAX_TEMPERATURE), expected)
    return tuple(dict.fromkeys(found or ([] if one is None else [one])))


def _judges(header: Section) -> tuple[NamedJudge, ...]:
    """Return the judges that it configures, each once."""
    config = Section(header.mapping("evaluationConfig"), header.log)
    coverage = Section(config.mapping("llm-coverage"), header.log)
    found = [judge for item in coverage.items("judges") if (judge := _judge(item, coverage))]
    names = coverage.each("judgeModels", _is_text, "names")
    found += [NamedJudge(name.strip(), APPROACHES["holistic"]) for name in names]
    if coverage.given("judgeModels"):
        coverage.note("judgeModels", "is deprecated: its judges use the holistic approach.")
    return tuple(dict.fromkeys(found))


def _judge(item: Any, coverage: Section) -> NamedJudge | None:
    fields = item if isinstance(item, dict) else {"model": item}
    model, approach = fields.get("model"), fields.get("approach", "prompt-aware")
    if not isinstance(model, str) or not model.strip():
        coverage.expected("judges", "a judge's model", item)
        return None
    if approach not in APPROACHES:
        coverage.expected("judges", f"one of {', '.join(APPROACHES)}", approach)
        return None
    return NamedJudge(model.strip(), APPROACHES[approach])


def _tools(header: Section) -> tuple[Json, ...]:
    def is_named(item: Any) -> bool:
        return isinstance(item, dict) and isinstance(item.get("name"), str)

    return tuple(header.each("tools", is_named, "tools with their names"))


def _extras(header: Section) -> Json:
    """Return fields without a place of their own, normalized under Weval's names."""
    found: Json = {name: plain(header.value(name)) for name in KEPT if header.given(name)}
    if authors := header.references("author"):
        # Authors have names where references have titles.
        found["author"] = [
            {"name" if key == "title" else key: value for key, value in author.items()}
            for author in authors
        ]
    if references := header.references("references", "citations", "reference", "citation"):
        found["references"] = references
    if use := header.mapping("toolUse"):
        mode = use.get("mode", "trace-only")
        if mode != "trace-only":
            header.expected("toolUse", "the mode trace-only", mode)
        header.note("toolUse", "models are offered the tools, but no tool is run.")
        found["toolUse"] = plain(use)
    if config := _other_config(header):
        found["evaluationConfig"] = config
    for name, value in header.rest().items():
        header.note(name, f"the field {excerpt(name)} of the header is unknown: kept, not used.")
        found[name] = value
    return found


def _other_config(header: Section) -> Json:
    """Return settings of judging besides the judges."""
    config = plain(header.mapping("evaluationConfig"))
    coverage = config.pop("llm-coverage", None)
    judges = coverage if isinstance(coverage, dict) else {}
    rest = {k: v for k, v in judges.items() if k not in ("judges", "judgeModels") and v is not None}
    if rest:
        config["llm-coverage"] = rest
    if config:
        names = ", ".join([*(key for key in config if key != "llm-coverage"), *rest])
        header.note("evaluationConfig", f"{names} is kept, not used.")
    return dict(config)
