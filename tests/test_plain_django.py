"""The product uses Django and its neighbours by their public names, and leaves HTML to templates.

Who knows them should read the code without surprise, and be able to upgrade them. The syntax trees
of all modules are searched, as far as a tree says what a name stands for.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRODUCT = ("evalhub", "evalhub_client", "issues", "runs", "reports")
THEIRS = ("django", "rest_framework", "unfold", "django_q", "simple_history")
DOCUMENTED = {"_meta", "_state", "_base_manager", "_default_manager", "_change_reason"}
MARKERS = {"format_html", "format_html_join", "mark_safe"}
TAG = re.compile(
    r"</?(?:a|abbr|b|br|button|code|datalist|dd|details|div|dl|dt|em|fieldset|figure|form|h[1-6]"
    r"|hr|i|img|input|kbd|label|li|link|main|mark|nav|ol|option|p|pre|script|section|select|small"
    r"|span|strong|style|sub|summary|sup|table|tbody|td|textarea|th|thead|tr|ul)\b"
)


@dataclass
class Class:
    name: str
    bases: set[str]
    has_theirs: bool
    node: ast.ClassDef
    path: str
    own: set[str] = field(default_factory=set)
    """What it defines or assigns."""


@dataclass
class Source:
    path: str
    text: str

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(ast.parse(self.text)))

    @cached_property
    def names(self) -> dict[str, str]:
        """What stands for something of theirs, by the name it has here."""
        found: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom) and not node.level and is_theirs(node.module or ""):
                found |= {each.asname or each.name: each.name for each in node.names}
            elif isinstance(node, ast.Import):
                own = [each for each in node.names if is_theirs(each.name)]
                found |= {one.asname or one.name.partition(".")[0]: one.name for one in own}
        return found

    @cached_property
    def aliases(self) -> set[str]:
        """Names of theirs, and those that are assigned to or go through them."""
        found = set(self.names) - {"settings"}
        for node in self.nodes * 2:
            given = node.iter if isinstance(node, ast.For) else getattr(node, "value", None)
            if isinstance(node, ast.For | ast.Assign) and stands_for(given, found):
                found |= {each.id for each in targets(node) if isinstance(each, ast.Name)}
        return found

    def classes(self) -> Iterator[Class]:
        for node in self.nodes:
            if isinstance(node, ast.ClassDef):
                roots = {root_of(base) for base in node.bases}
                names = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                one = Class(node.name, names, bool(roots & set(self.names)), node, self.path)
                one.own |= {each.name for each in node.body if isinstance(each, FUNCTIONS)}
                one.own |= {name_of(each) for part in ast.walk(node) for each in targets(part)}
                yield one


FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def is_theirs(module: str) -> bool:
    return module.partition(".")[0] in THEIRS


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in DOCUMENTED


def root_of(node: ast.AST) -> str:
    """Return the name that an attribute or item begins with; "" for none."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def name_of(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else root_of(node)


def stands_for(node: ast.AST | None, names: set[str]) -> bool:
    if isinstance(node, ast.Tuple | ast.List):
        return bool(node.elts) and all(stands_for(each, names) for each in node.elts)
    if isinstance(node, ast.Starred):
        return stands_for(node.value, names)
    return isinstance(node, ast.Name | ast.Attribute) and root_of(node) in names


def targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign | ast.Delete):
        return node.targets
    kinds = ast.AugAssign | ast.AnnAssign | ast.For
    return [node.target] if isinstance(node, kinds) else []


@cache
def sources() -> list[Source]:
    found = (path for app in PRODUCT for path in (ROOT / app).rglob("*.py"))
    return [
        Source(str(path.relative_to(ROOT)), path.read_text())
        for path in found
        if "migrations" not in path.parts
    ]


def private_imports(source: Source) -> Iterator[str]:
    """Yield private names of theirs that are imported, or read from what is imported."""
    yield from (name for name in source.names.values() if is_private(name.rpartition(".")[2]))
    for node in source.nodes:
        is_private_name = isinstance(node, ast.Attribute) and is_private(node.attr)
        if is_private_name and root_of(node) in source.names:
            yield node.attr


def private_methods(modules: list[Source]) -> Iterator[str]:
    """Yield path and name of each private method that a class takes from one of theirs."""
    table: dict[str, list[Class]] = {}
    for one in (one for module in modules for one in module.classes()):
        table.setdefault(one.name, []).append(one)
    every = {name for same in table.values() for one in same for name in one.own}
    for one in (one for same in table.values() for one in same):
        above = list(ancestors(one, table))
        if not any(each.has_theirs for each in (one, *above)):
            continue
        inherited = {name for each in above for name in each.own}
        for node in ast.walk(one.node):
            if not isinstance(node, ast.Attribute) or not is_private(node.attr):
                continue
            of_super = isinstance(node.value, ast.Call) and name_of(node.value.func) == "super"
            of_self = root_of(node.value) in {"self", "cls"}
            if (of_super and node.attr not in inherited) or (of_self and node.attr not in every):
                yield f"{one.path}: {node.attr}"


def ancestors(one: Class, table: dict[str, list[Class]]) -> Iterator[Class]:
    left, seen = set(one.bases), set[str]()
    while left:
        seen.add(name := left.pop())
        for each in table.get(name, ()):
            left |= each.bases - seen
            yield each


def patches(source: Source) -> Iterator[str]:
    """Yield what a module sets or deletes on something of theirs."""
    for node in source.nodes:
        for target in targets(node):
            if isinstance(target, ast.Attribute) and root_of(target) in source.aliases:
                yield ast.unparse(target)
        is_set = isinstance(node, ast.Call) and name_of(node.func) in {"setattr", "delattr"}
        if is_set and node.args and root_of(node.args[0]) in source.aliases:
            yield ast.unparse(node)


def marking_calls(source: Source) -> int:
    calls = (node for node in source.nodes if isinstance(node, ast.Call))
    return sum(name_of(call.func) in MARKERS for call in calls)


def lines_with_tags(source: Source) -> set[int]:
    """Return the lines of texts with a tag; a docstring is none."""
    texts = [node for node in source.nodes if isinstance(node, ast.Constant)]
    docstrings = {id(node.value) for node in source.nodes if isinstance(node, ast.Expr)}
    lines = source.text.splitlines()
    return {
        number
        for node in texts
        if isinstance(node.value, str) and id(node) not in docstrings
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        if TAG.search(lines[number - 1])
    }


MOST_CALLS, MOST_LINES = 60, 40
"""Calls that mark text as HTML, and lines of Python with a tag, in the whole product."""


def test_no_private_name_of_django_or_its_neighbours_is_used():
    modules = sources()
    used = {f"{module.path}: {name}" for module in modules for name in private_imports(module)}

    assert used | set(private_methods(modules)) == set()


def test_nothing_of_django_or_its_neighbours_is_patched():
    assert [(module.path, what) for module in sources() for what in patches(module)] == []


def test_html_stands_in_templates():
    modules = sources()

    assert sum(map(marking_calls, modules)) <= MOST_CALLS
    assert sum(len(lines_with_tags(module)) for module in modules) <= MOST_LINES


def test_what_is_searched_for_is_found():
    """One of each kind, planted."""
    planted = Source(
        "planted.py",
        """
from django.contrib.admin import helpers
from django.contrib.admin.utils import _get_non_gfk_field
from django.forms import ModelForm
from unfold import forms, sites

class Own(ModelForm):
    def _own(self):
        return self._get_validation_exclusions()
    def _clean_form(self):
        return super()._clean_form(), self._own()

registry = sites.UnfoldAdminSite._registry, ModelForm._meta
kinds = (forms.AdminForm, helpers.AdminForm)
for kind in kinds:
    kind.__iter__ = list
setattr(forms.Fieldset, "lines", [])
html = mark_safe("<b>bold</b>"), "a < b", format_html("{}", "")
""",
    )

    assert list(private_imports(planted)) == ["_get_non_gfk_field", "_registry"]
    assert {name.rpartition(" ")[2] for name in private_methods([planted])} == {
        "_get_validation_exclusions",
        "_clean_form",
    }
    assert sorted(patches(planted)) == ["kind.__iter__", "setattr(forms.Fieldset, 'lines', [])"]
    assert marking_calls(planted) == 2
    assert len(lines_with_tags(planted)) == 1
