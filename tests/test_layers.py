"""The floors: reports > runs > issues > evalhub, also where import-linter does not look."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.import_contracts import pure_modules
from tests.layers import (
    FLOORS,
    ROOT,
    Arrow,
    dotted_paths,
    floor_of,
    lookups_upward,
    names_from_above,
    sources,
    strings_upward,
    tags_upward,
)

NAMES_APPS = {
    "evalhub/settings/__init__.py",
    "evalhub/settings/background_work.py",
    "evalhub/settings/pages.py",
    "evalhub/settings/api.py",
    "evalhub/urls.py",
}
"""Where apps are named by dotted string."""

NAMES_RIGHTS = {"evalhub/access/roles.py", "evalhub/access/sealing/readers.py"}
"""Roles are data about the rights on every floor, which are named by app."""


def modules() -> list[Path]:
    return [file for file in sources("*.py") if str(file.relative_to(ROOT)) not in NAMES_APPS]


def places(path: Path, arrows: list[Arrow]) -> list[str]:
    return [f"{path.relative_to(ROOT)}:{arrow.line}: {arrow.text}" for arrow in arrows]


LOAD_ALL = """
import importlib, pkgutil, sys
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    for part in pkgutil.walk_packages(getattr(module, "__path__", []), name + "."):
        importlib.import_module(part.name)
    if "django" in sys.modules:
        sys.exit(f"{name} loads Django")
"""


def test_no_pure_module_loads_django():
    command = [sys.executable, "-c", LOAD_ALL, *pure_modules()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.stderr, done.returncode) == ("", 0)


def test_pure_is_what_is_named_so_or_says_so():
    pure = set(pure_modules())

    assert {"reports.drift.rule", "evalhub.statistics", "evalhub.values.digest"} <= pure
    assert "reports.drift.query" not in pure


def test_no_string_or_lookup_names_a_higher_floor():
    from_above = [names_from_above(floor) for floor in range(len(FLOORS))]
    strings, dotted, lookups = list[str](), list[str](), list[str]()
    for path in modules():
        source, floor = path.read_text(), floor_of(path)
        if str(path.relative_to(ROOT)) not in NAMES_RIGHTS:
            strings += places(path, strings_upward(source, floor))
        dotted += places(path, dotted_paths(source, floor))
        lookups += places(path, lookups_upward(source, from_above[floor]))

    assert (strings, dotted, lookups) == ([], [], [])


def test_no_template_names_a_higher_floor():
    found = []
    for path in sources("*.html"):
        found += places(path, tags_upward(path.read_text(), floor_of(path)))

    assert found == []


def test_no_folder_holds_more_than_fifteen_modules():
    files = [str(file.parent.relative_to(ROOT)) for file in sources("*.py") if file.stem[0] != "_"]
    full = {folder: number for folder, number in Counter(files).items() if number > 15}

    assert full == {}


def test_one_module_imports_litellm():
    importers = set()
    for path in sources("*.py"):
        source = path.read_text()
        for node in ast.walk(ast.parse(source)) if "litellm" in source else ():
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.partition(".")[0] == "litellm" for name in names):
                importers.add(str(path.relative_to(ROOT)))

    assert importers == {"evalhub/llm/providers/translated_calls.py"}


# That the search finds what it is for -----------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "url = reverse('runs:detail')",
        "url = reverse('admin:runs_run_change')",
        "template_name = 'reports/run/page.html'",
        "run = ForeignKey('runs.Run')",
    ],
)
def test_a_string_that_names_a_higher_floor_is_found(line):
    assert len(strings_upward(line, FLOORS.index("issues"))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "'''See runs.launching.launch.'''",
        "url = reverse('issues:detail')",
        "text = 'This runs. It reports: nothing.'",
        "path = 'api/v1/runs/'",
    ],
)
def test_other_strings_are_not(line):
    assert strings_upward(line, FLOORS.index("issues")) == []


def test_a_dotted_path_to_another_floor_is_found():
    assert len(dotted_paths("work = 'issues.synthesis.drafting.Drafting'", 2)) == 1


def test_a_dotted_path_to_the_same_floor_is_not():
    assert dotted_paths("work = 'runs.answering.work.AnsweringKind'", 2) == []


@pytest.mark.parametrize(
    "tag",
    [
        "{% url 'reports:run' pk %}",
        '{% include "runs/row.html" %}',
        "{% url 'admin:runs_run_add' %}",
    ],
)
def test_a_tag_that_names_a_higher_floor_is_found(tag):
    assert len(tags_upward(tag, FLOORS.index("issues"))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "Revision.objects.filter(results__state='done')",
        "tests.annotate(n=Count('revisions__results'))",
        "tests.prefetch_related('results')",
        "list_filter = ['results__state']",
        "revision.results.all()",
    ],
)
def test_a_lookup_through_a_name_from_above_is_found(line):
    assert lookups_upward(line, {"results"})


@pytest.mark.parametrize("line", ["results = []", "data['results'].append(1)", "f(results=1)"])
def test_an_ordinary_use_of_the_word_is_not(line):
    assert lookups_upward(line, {"results"}) == []


def test_names_from_above_are_those_that_only_higher_floors_give():
    names = names_from_above(FLOORS.index("issues"))

    assert "results" in names
    assert "issue" not in names
