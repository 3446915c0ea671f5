"""Finds strings and lookups that name a higher floor: arrows that import-linter cannot see."""

import ast
import functools
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from django.apps import apps
from django.db.models import Model

ROOT = Path(__file__).resolve().parent.parent
FLOORS = ("evalhub", "issues", "runs", "reports")
"""From the ground up. A floor may name those before it."""

ROOMS = {
    config.label: config.name.partition(".")[0]
    for config in apps.get_app_configs()
    if config.name.startswith("runs.")
}
"""Apps of their own, by their labels, and the floor on which they lie."""

QUERIES = {
    *("aggregate", "alias", "annotate", "defer", "distinct", "earliest", "exclude", "filter"),
    *("get", "latest", "only", "order_by", "prefetch_related", "select_related", "values"),
    *("values_list", "Avg", "Count", "Exists", "F", "Max", "Min", "OuterRef", "Prefetch"),
    *("Q", "StringAgg", "Subquery", "Sum"),
}
ON_RELATED = QUERIES | {"all", "count", "create", "exists", "first", "last", "update"}


@functools.lru_cache(maxsize=1)
def parsed(source: str) -> ast.Module:
    """A module's tree, which several searches of one file share."""
    return ast.parse(source)


class Arrow(NamedTuple):
    """A place that names what it must not know."""

    line: int
    text: str


def floor_of(path: Path) -> int:
    """The floor of a source file or template; what belongs to no app lies on the ground."""
    names = (ROOMS.get(name, name) for name in path.relative_to(ROOT).parts)
    return next((FLOORS.index(name) for name in names if name in FLOORS), 0)


def above(floor: int) -> str:
    """All that lies higher, as alternatives of a pattern; "" where nothing does."""
    higher = FLOORS[floor + 1 :]
    return "|".join((*higher, *(room for room, lies_on in ROOMS.items() if lies_on in higher)))


def sources(pattern: str) -> list[Path]:
    folders = (*FLOORS, "templates")
    files = (file for folder in folders for file in sorted((ROOT / folder).rglob(pattern)))
    return [file for file in files if "migrations" not in file.parts]


# Strings -----------------------------------------------------------------------------------------


def strings_upward(source: str, floor: int) -> list[Arrow]:
    """URL names, template paths and labels of higher floors among a module's strings."""
    if floor + 1 == len(FLOORS):
        return []
    upward = re.compile(rf"(?<![\w/])({above(floor)})[.:/_]\w")
    return [arrow for arrow in strings(source) if upward.search(arrow.text)]


def dotted_paths(source: str, floor: int) -> list[Arrow]:
    """Strings that are the dotted path of something on another floor: import it instead."""
    others = "|".join(name for name in FLOORS if name != FLOORS[floor])
    return [a for a in strings(source) if re.fullmatch(rf"({others})(\.\w+){{2,}}", a.text)]


def strings(source: str) -> Iterator[Arrow]:
    """Every string of a module that is not a docstring or another bare expression."""
    tree = parsed(source)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield Arrow(node.lineno, node.value)


def tags_upward(template: str, floor: int) -> list[Arrow]:
    """Template tags that name a URL, template or static file of a higher floor."""
    higher = above(floor)
    tag = rf"""{{%[^%]*["'](?:admin:)?({higher})[:/_]\w[^%]*%}}"""
    found = re.finditer(tag, template) if higher else ()
    return [Arrow(template.count("\n", 0, m.start()) + 1, m.group()) for m in found]


# Lookups -----------------------------------------------------------------------------------------


def names_from_above(floor: int) -> set[str]:
    """Names by which models of higher floors are reached, and nothing on or below this floor."""
    higher: set[str] = set()
    known: set[str] = set()
    for model in apps.get_models():
        if model_floor(model) <= floor:
            for field in model._meta.get_fields():
                source = field.related_model if field.auto_created and not field.concrete else model
                names = {
                    field.name,
                    getattr(field, "get_accessor_name", lambda: "")() or field.name,
                }
                (higher if model_floor(source) > floor else known).update(names)
    return {name for name in higher - known if not name.endswith("+")}


def model_floor(model: type[Model] | None) -> int:
    """Models of other packages, and generic relations, stand under the ground."""
    if model is None:
        return -1
    label = ROOMS.get(model._meta.app_label, model._meta.app_label)
    return FLOORS.index(label) if label in FLOORS else -1


def lookups_upward(source: str, names: Collection[str]) -> list[Arrow]:
    """Queries and reverse accessors that go through one of the names."""
    arrows = []
    for node in ast.walk(parsed(source)):
        for text in lookups(node):
            if set(text.lstrip("-").split("__")) & set(names):
                arrows.append(Arrow(node.lineno, text))
    return arrows


def lookups(node: ast.AST) -> Iterator[str]:
    """What a call looks up, or the accessor in `row.accessor.all`."""
    if isinstance(node, ast.Attribute) and node.attr in ON_RELATED:
        if isinstance(node.value, ast.Attribute):
            yield node.value.attr
    elif isinstance(node, ast.Call) and called(node) in QUERIES:
        yield from (keyword.arg for keyword in node.keywords if keyword.arg)
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        for value in values:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.value
    elif isinstance(node, ast.Constant) and re.fullmatch(r"-?\w+__\w+", str(node.value)):
        yield str(node.value)


def called(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
