"""YAML of a blueprint, which reads back as the same blueprint. Pure."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import yaml

from evalhub.llm.content.raw_prompt import RAW_PROMPT, raw_prompt_of
from issues.rubrics.criterion_content import SHOULD, SHOULD_NOT
from runs.importers.weval.blueprint.functions import Call, write_function
from runs.importers.weval.blueprint.records import (
    APPROACHES,
    Blueprint,
    Json,
    Point,
    Prompt,
)
from runs.importers.weval.blueprint.yaml_reader import add_scalars

WIDTH = 100


def write_blueprint(blueprint: Blueprint) -> str:
    """Return the header, and the prompts in a second document."""
    parts = [_header(blueprint), [_prompt(prompt) for prompt in blueprint.prompts]]
    return yaml.dump_all(
        parts,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=WIDTH,
        default_flow_style=False,
    )


class _Dumper(yaml.SafeDumper):
    """Dumper that quotes text which YAML 1.1 or 1.2 would misread, and writes no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=_style(text))


def _style(text: str) -> str | None:
    """Use a block if it preserves the text: no space at line ends or at the start."""
    lines = text.split("\n")
    if not all(line.isprintable() for line in lines):
        return '"'  # some of what does not show ends a line in YAML, if it is not escaped
    is_neat = all(line == line.rstrip() for line in lines) and lines[0] == lines[0].lstrip()
    return "|" if len(lines) > 1 and lines[0] and is_neat else None


add_scalars(_Dumper)
_Dumper.add_representer(str, _text)


# Header ------------------------------------------------------------------------------------------


def _header(blueprint: Blueprint) -> Json:
    extras = dict(blueprint.extras)
    authors = extras.pop("author", [])
    config = extras.pop("evaluationConfig", {})
    return _filled(
        title=blueprint.title,
        description=blueprint.description,
        author=authors[0] if len(authors) == 1 else authors,
        tags=list(blueprint.tags),
        models=list(blueprint.models),
        **_systems(blueprint),
        temperatures=list(blueprint.temperatures),
        evaluationConfig=_with_judges(config, blueprint),
        tools=list(blueprint.tools),
        **extras,
    )


def _systems(blueprint: Blueprint) -> Json:
    systems = blueprint.systems
    if len(systems) == 1 and systems[0]:
        return {"system": systems[0]}
    return {"systems": list(systems)}


def _with_judges(config: Json, blueprint: Blueprint) -> Json:
    if not blueprint.judges:
        return config
    names = {ours: theirs for theirs, ours in APPROACHES.items()}
    judges = [
        {"model": judge.model, "approach": names[judge.approach]} for judge in blueprint.judges
    ]
    return {**config, "llm-coverage": {**config.get("llm-coverage", {}), "judges": judges}}


def _filled(**fields: Any) -> Json:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value not in ("", [], {}, None)}


# Prompts -----------------------------------------------------------------------------------------


def _prompt(prompt: Prompt) -> Json:
    extras = dict(prompt.extras)
    citation = extras.pop("citation", [])
    return {
        **_filled(id=prompt.id, description=prompt.description),
        **_asked(prompt.messages),
        **_filled(
            ideal=prompt.reference,
            citation=citation,
            weight=None if prompt.weight == 1 else prompt.weight,
            should=_block(prompt.points, SHOULD),
            should_not=_block(prompt.points, SHOULD_NOT),
            evalhub=prompt.own,
        ),
        **extras,
    }


def _asked(messages: list[Json]) -> Json:
    only = messages[0] if len(messages) == 1 else {}
    if _is_plain(only) and only["role"] == "user":
        return {"prompt": only["content"]}
    return {"messages": [_message(message) for message in messages]}


def _message(message: Json) -> Json:
    is_short = _is_plain(message) and message["role"] not in ("tool", RAW_PROMPT)
    return {message["role"]: message["content"]} if is_short else message


def _is_plain(message: Json) -> bool:
    return set(message) == {"role", "content"} and not isinstance(message["content"], list)


def _block(points: Iterable[Point], polarity: str) -> list[Any]:
    """Return the points of one polarity; each alternative is a list."""
    block: list[Any] = []
    of_block = (point for point in points if point.polarity == polarity)
    for path, group in groupby(of_block, key=lambda point: point.alternative):
        written = [_point(point) for point in group]
        block += written if path is None else [written]
    return block


def _point(point: Point) -> Any:
    beside = _filled(
        weight=None if point.weight == 1 else point.weight,
        citation=point.citation,
        mandatory=point.mandatory or None,
    )
    if point.check:
        name, argument = write_function(Call(point.check, point.arguments))
        return {f"${name}": argument, **_filled(label=point.text), **beside}
    if beside or point.text.startswith("$"):
        return {"point": point.text, **beside}
    return point.text


# What Weval lacks --------------------------------------------------------------------------------


def not_known_to_weval(blueprint: Blueprint) -> Iterator[str]:
    """Return kinds of content that only EvalHub reads back, each once."""
    for prompt in blueprint.prompts:
        for name in prompt.own:
            yield f"{name} of tests"
        if raw_prompt_of(prompt.messages) is not None:
            yield "raw prompts"
        if any(isinstance(message["content"], list) for message in prompt.messages):
            yield "messages of several parts"
        for point in prompt.points:
            if point.mandatory:
                yield "mandatory criteria"
            if point.check and write_function(Call(point.check, point.arguments))[0] == "evalhub":
                yield f"the check {point.check}"
