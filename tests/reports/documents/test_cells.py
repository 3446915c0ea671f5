"""A report's values as words, as columns and for programs."""

import re

import pytest
from django.template.loader import render_to_string

from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.rate_interval import Method
from reports.documents.cells import as_json, flat, headings, words
from reports.documents.document import Column, Document, Estimate, Linked, Table
from reports.documents.html_export import html_of
from reports.templatetags.document import heat
from runs.figures.rate import Rate

HALF = Rate(passed=1, n=2, share=0.5, interval=None)
LINKED = Linked(HALF, "/somewhere/?a=1&b=2")
COLUMN = Column("rate", "Pass rate", "rate")


def cell(value, column, look=""):
    table = Table("rows", "Rows", (Column("name", "Name"), column), (("A", value),), look=look)
    return render_to_string("reports/documents/rows.html", {"table": table, "rows": table.rows})


@pytest.mark.parametrize(
    "read",
    [lambda value: words(value, "rate"), lambda value: flat([value], [COLUMN]), as_json, heat],
    ids=["words", "flat", "json", "heat"],
)
def test_a_linked_value_reads_as_the_value(read):
    assert read(LINKED) == read(HALF)


def test_a_difference_without_a_direction_is_points_and_no_percent():
    assert words(0.184, "size") == "18.4 pts"
    assert words(0.184, "points") == "+18.4 pts"


def test_a_linked_value_is_a_link_on_a_page():
    assert '<a href="/somewhere/?a=1&amp;b=2"><span' in cell(LINKED, COLUMN, "heat")


def test_a_heat_map_is_shaded_in_a_file_as_well():
    columns = (Column("issue", "Issue"), COLUMN)
    table = Table("map", "Map", columns, (("A", LINKED), ("B", None)), look="heat")
    html = html_of(Document("Which?", tables=(table,)))

    assert html.count('<td class="eh-heat" style="--heat: 50%">') == 1
    assert re.search(r"<td>\s*—\s*</td>", html)


def test_a_file_explains_intervals_that_do_not_account_for_issues():
    rate = Rate(1, 2, 0.5, Interval(0.1, 0.9), Method.BY_TEST)
    table = Table("map", "Map", (COLUMN,), ((rate,),), note="A note.")
    html = html_of(Document("Which?", tables=(table,)))

    assert "10–90%†" in html
    assert f"A note. 95% intervals: † {Method.BY_TEST}." in html


# Scored of all -----------------------------------------------------------------------------------

PARTLY = Rate(passed=9, n=10, share=0.9, total=20)
SCORE = Estimate(0.5, 10, total=20)
ESTIMATE = Column("score", "Score", "estimate")


def test_a_rate_of_results_says_how_many_are_scored():
    assert words(PARTLY, "rate") == "90% (9 of 10, 10/20 scored)"
    assert words(SCORE, "estimate") == "0.5 (10/20 scored)"
    assert words(Rate(0, 0, None, total=20), "rate") == "— (0/20 scored)"


def test_programs_read_the_same():
    assert (as_json(PARTLY)["n"], as_json(PARTLY)["total"]) == (10, 20)
    assert (as_json(SCORE)["n"], as_json(SCORE)["total"]) == (10, 20)


def test_spreadsheets_have_a_column_of_all_results():
    columns = [COLUMN, ESTIMATE]
    row = dict(zip(headings(columns), flat([PARTLY, SCORE], columns), strict=True))

    assert (row["rate_n"], row["rate_total"]) == (10, 20)
    assert (row["score"], row["score_n"], row["score_total"]) == (0.5, 10, 20)


def test_a_page_warns_where_too_little_is_scored():
    enough = Rate(passed=19, n=19, share=1.0, total=20)

    assert "10/20 scored" in cell(PARTLY, COLUMN)
    assert "eh-badge--warning" in cell(PARTLY, COLUMN)
    assert "eh-badge--warning" not in cell(enough, COLUMN)
    assert "of 10/20" in cell(PARTLY, COLUMN, "heat")


def test_a_rate_of_other_things_is_as_before():
    assert words(HALF, "rate") == "50% (1 of 2)"
    assert "scored" not in cell(HALF, COLUMN)
