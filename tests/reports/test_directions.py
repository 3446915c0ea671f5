"""No table or sentence of a report states a direction without n, evidence and the method's name.

A column states one by its form (`points`, `p`, `verdict`) or, with a number, by the words of its
title, so that a new page need not declare anything to be held to it.
"""

import re
from typing import Any

import pytest
from django.core.cache import caches
from django.http import QueryDict
from django.utils.http import urlencode

from reports.documents.document import Column, Document, Table
from reports.documents.exports import json_of
from reports.documents.reading import Reading
from reports.registry import page_of
from tests.factories import make_user
from tests.reports.workspaces import VIEWS, make_workspace, state_for

DIRECTED_FORMS = {"points", "p", "verdict"}
NUMBERS = {"number", "score", "share", "count", "estimate"}
DIRECTED_WORDS = re.compile(
    r"\b(rank|place|better|worse|gain|loss|lost|change|direction|drift|spread|range|difference"
    r"|champion|highest|lowest|hardest|best|worst|net|lead|trend)\b",
    re.IGNORECASE,
)
N_COLUMNS = {"n", "tests", "answers", "scored", "total", "shared"}
METHODS = re.compile(
    r"McNemar|sign flip|permutation|binomial|hypergeometric|Wilson|bootstrap|resampl|\bt by\b"
    r"|Rogan|Spearman",
    re.IGNORECASE,
)
NOT_TESTED = re.compile(r"\bnot tested\b|\bno evidence\b|\bnot evidence\b")
DIRECTED_SENTENCE = re.compile(r"\b(worse|better|rose|fell|drifted|highest score|first of)\b")
EVIDENCE_IN_WORDS = re.compile(
    r"\bp (=|<|<=|≤) ?[\d.]+|\binterval|\b95%|not tested|not be tested"
    # A conclusion has its evidence behind "How sure?".
    r"|[Jj]udges rate |by chance alone|may be chance"
)


def is_directed(column: Column) -> bool:
    if column.form in DIRECTED_FORMS:
        return True
    return column.form in NUMBERS and bool(
        DIRECTED_WORDS.search(f"{column.title} {column.name.replace('_', ' ')}")
    )


def lacking(table: Table) -> list[str]:
    """Return what a table with a direction lacks; [] for tables without one."""
    if not any(map(is_directed, table.columns)):
        return []
    forms = {column.form for column in table.columns}
    names = {column.name for column in table.columns}
    notes = " ".join([table.note, *(column.note for column in table.columns)])
    is_untested = bool(NOT_TESTED.search(notes))
    found = {
        # An outcome is of one answer.
        "n": bool(forms & {"rate", "estimate", "outcome"} or names & N_COLUMNS),
        "an interval or p": is_untested or bool(forms & {"p", "rate", "estimate"}),
        "the method": is_untested
        or "method" in names
        or "rate" in forms
        or bool(METHODS.search(notes)),
    }
    return [what for what, has in found.items() if not has]


def documents() -> list[tuple[str, Document]]:
    ledger = make_workspace(3)
    reading = Reading(make_user("maintainer"))
    runs = [run.pk for run in ledger.runs]
    asked: list[tuple[str, dict[str, Any]]] = [
        *((key, state_for(key, ledger) | extra) for key, extra in VIEWS),
        ("compare", {"runs": runs[:2]}),
        ("compare", {"runs": runs[:4]}),
        ("trend", {"tag": "facts"}),
        ("heatmap", {"rows": "tag"}),
        ("leaderboard", {"suites": 1}),
    ]
    found = []
    for key, state in asked:
        page = page_of(key)
        form = page.form(QueryDict(urlencode(state, doseq=True)))
        found.append((f"{key} {state}", page.build(form.filters, reading)))
    return found


@pytest.mark.django_db
def test_every_direction_has_its_n_its_evidence_and_its_method_in_json_too():
    caches["computed"].clear()
    built = documents()

    lacks = {
        f"{name}: {table.key}": missing
        for name, document in built
        for table in document.tables
        if (missing := lacking(table))
    }
    assert lacks == {}
    assert [
        (name, sentence)
        for name, document in built
        for sentence in document.sentences
        if DIRECTED_SENTENCE.search(sentence) and not EVIDENCE_IN_WORDS.search(sentence)
    ] == []
    for _, document in built:
        sheets = json_of(document)["tables"]
        for table in document.tables:
            assert sheets[table.key]["note"] == table.note
            notes = [column["note"] for column in sheets[table.key]["columns"]]
            assert notes == [column.note for column in table.columns]


def test_a_new_table_with_a_bare_change_is_caught():
    bare = Table("new", "New", (Column("model", "Model"), Column("gain", "Gain", "number")), [])
    tested = Table(
        "new",
        "New",
        (
            Column("gain", "Gain", "points"),
            Column("tests", "Tests", "count"),
            Column("p", "p", "p"),
            Column("method", "Method"),
        ),
        [],
    )

    assert lacking(bare) == ["n", "an interval or p", "the method"]
    assert lacking(tested) == []
