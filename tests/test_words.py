"""No retired term of the product is left: pages, documents, names and the API's schema."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import get_commands
from django.urls import get_resolver

from tests.layers import FLOORS, ROOMS

ROOT = Path(__file__).parents[1]
APPS = (*FLOORS, *ROOMS)
RETIRED = {
    r"judgings|(?:an?|the|this|that|each|every|other|another|new|current|active|one|no) judging\b"
    r"(?! of|-| model| prompt)": "judge run",
    r"judged? again|make (?:it )?current": "re-judge, set as active",
    r"unjudged|not decided": "unscored",
    r"ways? to (?:succeed|fail)|way \d": "alternative",
    r"flicker\w*": "flaky",
    r"rehears\w*": "judge tuning",
    r"held-out hal\w+|seen hal\w+": "held-out split, development split",
    r"precedents?": "labelled example",
    r"nearness|likeness\w*": "similarity",
    r"menders?|mended (?:verdict|reply|judgment)s?": "repair model, repaired",
    r"makers?": "developer",
    r"wordings?": "prompt, prompt variant",
    r"tokens (?:read|written)": "input tokens, output tokens",
    r"ledgers?": "workspace, data",
    r"life of (?:an|its|the) issue|run by run|to trust where": "issue timeline",
    r"likes length|changes when reversed|judges itself": "length bias, position bias",
    r"turnout|ballots?|purse|wallet|lifeline|assessments?": "a word of the glossary",
}
"""Pattern of a retired term, and what is said in its place."""

_RETIRED = [(re.compile(rf"\b(?:{old})\b", re.IGNORECASE), new) for old, new in RETIRED.items()]
RETIRED_NAMES = re.compile(
    r"(?:^|_)(?:judgings?|unjudged|flicker\w*|rehears\w*|precedents?|nearness|likeness"
    r"|mender\w*|makers?|wordings?|notices?|editions?|ledgers?|purse|wallet|lanes?|desk"
    r"|seats?|lifeline|turnout|ballots?|assessments?|hearings?)(?:_|$)"
)
_MARKUP = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<script.*?</script>|<[^>]+>", re.DOTALL)


def retired_in(text: str) -> list[str]:
    return [f"{match.group()!r}: {new}" for old, new in _RETIRED for match in old.finditer(text)]


def retired(names) -> list[str]:
    return sorted({name for name in names if RETIRED_NAMES.search(name.lower().replace("-", "_"))})


def tracked(*paths: str) -> list[str]:
    command = ["git", "ls-files", "-z", "--", *paths]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def texts_of(name: str) -> Iterator[str]:
    """What a person may read of a file: of Python its strings of more than one word."""
    source = (ROOT / name).read_text(errors="replace")
    if name.endswith(".html"):
        yield " ".join(_MARKUP.sub(" | ", source).split())
        yield from re.findall(
            r'\b(?:title|placeholder|aria-label|alt|data-confirm)="([^"]*)"', source
        )
    elif name.endswith(".py"):
        for node in ast.walk(ast.parse(source)):
            text = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and (" " in text.strip() or text.istitle()):
                yield text
    elif name.endswith((".md", ".js", ".css")):
        yield source


def test_no_text_has_a_retired_term():
    names = tracked("evalhub", "issues", "runs", "reports", "templates", "docs", "*.md")
    hits = [
        f"{name}: {hit}"
        for name in names
        if "/migrations/" not in name
        for text in texts_of(name)
        for hit in retired_in(text)
    ]

    assert len(names) > 1_000
    assert hits == []


def test_no_module_table_field_choice_address_command_or_setting_has_a_retired_name():
    files = tracked("evalhub", "issues", "runs", "reports", "templates", "tests")
    names = {part.partition(".")[0] for name in files for part in name.split("/")}
    for label in APPS:
        for model in apps.get_app_config(label).get_models():
            names |= {str(model._meta.model_name), model._meta.db_table}
            names |= {constraint.name for constraint in model._meta.constraints}
            for field in model._meta.get_fields():
                names.add(field.name)
                names |= {str(value) for value, _ in getattr(field, "flatchoices", ()) if value}
    resolvers = [get_resolver(), *(r for _, r in get_resolver().namespace_dict.values())]
    names |= {name for r in resolvers for name in r.reverse_dict if isinstance(name, str)}
    names |= {name for name, app in get_commands().items() if str(app).split(".")[0] in APPS}
    names |= {name for name in dir(settings) if name.startswith("EVALHUB_")}

    assert len(names) > 1_000
    # An activity; a library's desk in the sample content.
    assert retired(names - {"judging", "library_desk"}) == []


@pytest.mark.django_db
def test_no_name_or_text_of_the_api_is_retired(admin_client):
    schema = admin_client.get("/api/schema/?format=json").json()
    names: list[str] = list(schema["paths"])
    texts: list[str] = []

    def read(node):
        if isinstance(node, dict):
            names.extend(node.get("properties", ()))
            names.extend(str(value) for value in node.get("enum", ()))
            texts.extend(
                node[key] for key in ("description", "summary") if isinstance(node.get(key), str)
            )
            for child in node.values():
                read(child)
        elif isinstance(node, list):
            for child in node:
                read(child)

    read(schema)
    parts = [part for name in names for part in name.split("/")]

    assert retired(parts) == []
    assert [hit for text in texts for hit in retired_in(text)] == []
