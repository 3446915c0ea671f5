"""Every pass rate of results comes with the number of all results, on each page and in files."""

from collections.abc import Iterator

import pytest

from evalhub.models import ItemState
from reports.documents.document import Document, Linked
from reports.documents.reading import Reading
from reports.registry import PAGES
from reports.run.page import document_of_run
from reports.run.query import run_report
from runs.figures.rate import Rate
from runs.result_list.filters import Filters
from tests.factories import make_user
from tests.reports.documents.test_pages import as_query
from tests.reports.workspaces import make_workspace, state_for

pytestmark = pytest.mark.django_db

OTHER_RATES = {"judge_reliability", "annotators"}
"""Pages with shares of judgments and of human evaluations."""


def rates(document: Document) -> Iterator[tuple[str, Rate]]:
    cells = [(fact.name, fact.value) for fact in document.facts]
    cells += [
        (f"{table.key}.{column.name}", value)
        for table in document.tables
        for row in table.rows
        for column, value in zip(table.columns, row, strict=True)
    ]
    for name, value in cells:
        inside = value.value if isinstance(value, Linked) else value
        if isinstance(inside, Rate):
            yield name, inside


@pytest.fixture
def workspace():
    """Two models, two releases; one result of the newest run ended in an error."""
    made = make_workspace()
    last = made.runs[-1].results.last()
    made.runs[-1].results.filter(pk=last.pk).update(
        state=ItemState.ERROR, score=None, passed=None, is_judged=False
    )
    return made


def test_every_rate_of_a_page_has_all_results(workspace, subtests):
    reader = make_user("maintainer")
    for page in PAGES:
        if page.key not in OTHER_RATES:
            with subtests.test(page.key):
                filters = page.form(as_query(state_for(page.key, workspace))).filters
                document = page.build(filters, Reading(reader))
                assert [name for name, rate in rates(document) if rate.total is None] == []


def test_the_report_of_a_run_names_what_is_missing(workspace):
    run = workspace.runs[-1]
    document = document_of_run(run_report(run, Filters(), reader=make_user("viewer")))

    found = dict(rates(document))
    assert (found["pass_rate"].n, found["pass_rate"].total) == (5, 6)
    assert all(rate.total is not None for rate in found.values())
    assert any("Incomplete: 5/6 scored, less than 95%" in one for one in document.warnings)
