"""A report's values as words, as columns and for programs."""

import pytest

from reports.documents.cells import as_json, flat, words
from reports.documents.document import Column, Document, Linked, Table
from reports.documents.html_export import html_of
from reports.templatetags.document import cell, heat
from runs.figures.tallies import Rate

HALF = Rate(passed=1, n=2, share=0.5, interval=None)
LINKED = Linked(HALF, "/somewhere/?a=1&b=2")
COLUMN = Column("rate", "Pass rate", "rate")


@pytest.mark.parametrize(
    "read",
    [
        lambda value: words(value, "rate"),
        lambda value: flat([value], [COLUMN]),
        as_json,
        heat,
    ],
    ids=["words", "flat", "json", "heat"],
)
def test_a_linked_value_reads_as_the_value(read):
    assert read(LINKED) == read(HALF)


def test_a_linked_value_is_a_link_on_a_page():
    assert cell(LINKED, COLUMN, "heat").startswith('<a href="/somewhere/?a=1&amp;b=2"><span')


def test_a_heat_map_is_shaded_in_a_file_as_well():
    table = Table("map", "Map", (COLUMN,), ((LINKED,), (None,)), look="heat")
    html = html_of(Document("Which?", tables=(table,)))

    assert html.count('<td style="--heat: 50%">') == 1
    assert "<td>—</td>" in html
