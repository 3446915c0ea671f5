"""A comparison on one page, for people who do not use the site."""

import io
import sys

import pypdf
import pytest

from evalhub.statistics.changes.conclusion import Word
from evalhub.statistics.interval import Interval
from reports.documents.document import Column, Document, Table
from reports.documents.handout import Handout, HandoutLine, Passed
from reports.documents.origin import Origin
from reports.handout.rendering import CannotMakePdf, html_of_handout, pdf_of
from tests.factories import make_tests
from tests.reports.releases.test_page import document, released

ORIGIN = Origin("https://hub.example.org/reports/releases/?release=1.4")
LONG = "organisation/a-very-long-model-name-with-parts-70b-instruct"


def line(name, word=Word.WORSE, low=-0.48, high=-0.07):
    return HandoutLine(
        name=name,
        word=word,
        finding=f"judges rate {name} worse",
        before=Passed(64, 72),
        now=Passed(43, 72),
        changed="lost 22, won 1 of 72 tests",
        sure="Yes: by chance about once in 800 times.",
        change=(low + high) / 2,
        interval=Interval(low, high),
    )


def handout(*lines, **more):
    return Handout("1.4", ("Release 1.3", "Release 1.4"), lines, **more)


def pages_of(document):
    try:
        made = pdf_of(document, ORIGIN)
    except CannotMakePdf as lacking:
        pytest.skip(str(lacking))
    return [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(made)).pages]


def test_a_subject_says_what_was_lost_first():
    found = handout(
        line("clover", Word.SAME), line("kelp", Word.CANNOT_TELL), line("aurora"), decision="Held."
    )

    assert found.subject == (
        "1.4: judges rate aurora worse (43 of 72, was 64); cannot tell: kelp; "
        "no outcome changed: clover"
    )


def test_a_subject_stays_short_whatever_the_names():
    assert len(handout(*(line(f"{LONG}-{n}") for n in range(12))).subject) <= 120


@pytest.mark.parametrize("high", [0.0, 0.04, 0.07, 0.99, 1.0])
def test_every_interval_is_within_the_axis(high):
    assert high <= handout(line("aurora", low=-high, high=high)).span <= 1


def test_twelve_models_with_long_names_fit_one_page():
    lost = tuple(f"{LONG}: lost for sure: “{'dates ' * 20}” (12 of 12)." for _ in range(6))
    lines = [line(f"модель-{LONG}-{n}") for n in range(12)]

    (text,) = pages_of(Document("Release 1.4 against 1.3", handout=handout(*lines, lost=lost)))

    assert "Release 1.4 against 1.3" in text
    assert "модель" in text
    assert "64 → 43 of 72" in text


def test_a_report_without_a_handout_shows_its_first_rows():
    columns = (Column("name", "Name"),)
    rows = [(f"row {n}",) for n in range(40)]

    (text,) = pages_of(
        Document("Activity", ("36 changes.",), tables=(Table("t", "Changes", columns, rows),))
    )

    assert "36 changes." in text
    assert "row 11" in text
    assert "28 further rows" in text


def test_names_are_text_and_the_page_loads_nothing():
    name = '<img src="file:///etc/passwd"><script>x</script>'

    page = html_of_handout(Document(name, handout=handout(line(name))), ORIGIN)

    assert "<img" not in page
    assert "<script" not in page


def test_without_the_library_the_page_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)

    with pytest.raises(CannotMakePdf, match="pip install weasyprint"):
        pdf_of(Document("Trend"), ORIGIN)


def test_a_release_names_models_without_their_suite_and_new_ones_aside(db):
    tests = make_tests(6)
    for release in ("1.0", "1.1"):
        released(tests, release, [int(release == "1.0")] * 6)
    released(tests, "1.1", [1] * 6, name="New", suite="other")

    found = document(release="1.1").handout

    assert found is not None
    assert found.subject == "1.1: judges rate Tiny worse (0 of 6, was 6)"
    assert [(one.name, one.changed) for one in found.lines] == [
        ("Tiny", "lost 6, won 0 of 6 tests")
    ]
    assert "Not run completely before: New · other." in found.notes


def test_the_first_release_has_nothing_to_hand_on(db):
    released(make_tests(2), "1.0", [1, 0])

    assert document().handout is None
