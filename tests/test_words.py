"""No retired word is left where somebody reads it: pages, documents, names and the API's schema."""

import re

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import get_commands
from django.urls import get_resolver

from tests.words import hits_in, hits_in_files, tracked

APPS = (
    "evalhub",
    "issues",
    "runs",
    "pairwise",
    "position_bias",
    "review",
    "trials",
    "tuning",
    "workbench",
    "reports",
)

RETIRED_NAMES = re.compile(
    r"(?:^|_)(?:judgings?|unjudged|undecided|flicker\w*|rehears\w*|precedents?|nearness|likeness|alike"
    r"|mend\w*|makers?|wordings?|notices?|recur\w*|editions?|ledgers?|purse|wallet|lanes?|desk"
    r"|seats?|lifeline|turnout|ballots?|assessments?|told|hearings?)(?:_|$)"
)
"""Parts of names that were retired."""


def retired(names):
    return sorted({name for name in names if RETIRED_NAMES.search(name.lower().replace("-", "_"))})


@pytest.mark.parametrize(
    "path",
    ["evalhub", "issues", "runs", "reports", "templates", "docs", "README.md", "CHANGELOG.md"],
)
def test_no_text_has_a_retired_word(path):
    assert [str(hit) for hit in hits_in_files(tracked(path))] == []


def test_no_module_has_a_retired_name():
    names = tracked("evalhub", "issues", "runs", "reports", "templates", "tests")
    parts = {part.partition(".")[0] for name in names for part in name.split("/")}

    assert retired(parts - {"judging", "library_desk"}) == []  # an activity; a library's desk


def test_no_table_field_or_choice_has_a_retired_name():
    names = []
    for label in APPS:
        for model in apps.get_app_config(label).get_models():
            names += [model._meta.model_name, model._meta.db_table]
            names += [constraint.name for constraint in model._meta.constraints]
            for field in model._meta.get_fields():
                names.append(field.name)
                names += [str(value) for value, _ in getattr(field, "flatchoices", ()) if value]

    assert retired(names) == []


def test_no_address_command_or_setting_has_a_retired_name():
    names = [name for name in get_resolver().reverse_dict if isinstance(name, str)]
    for _, resolver in get_resolver().namespace_dict.values():
        names += [name for name in resolver.reverse_dict if isinstance(name, str)]
    names += [name for name, app in get_commands().items() if str(app).split(".")[0] in APPS]
    names += [name for name in dir(settings) if name.startswith("EVALHUB_")]

    assert names
    assert retired(names) == []


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
    assert [str(hit) for text in texts for hit in hits_in(text, text[:40])] == []
