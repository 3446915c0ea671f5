"""A run as JUnit XML, for build servers.

Each issue is a suite, each test and repeat a case. Unscored and pending results are skipped.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from evalhub.display.formatting import score, words
from reports.documents.origin import Origin
from reports.queries.names import name_of_test
from reports.queries.result_rows import Row
from reports.run.query import RunReport
from runs.models import Outcome

UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold, however it is escaped."""

XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


IN_ORDER = ("issue_id", "test_id", "repeat")
"""Order of the rows of a JUnit document."""


def junit_lines(
    report: RunReport, rows: Iterable[Row], counts: Mapping[str, int], origin: Origin
) -> Iterator[str]:
    """The document piece by piece: the head, then one suite after the other.

    Args:
        rows: In the order of `IN_ORDER`, with texts as the reader may read them; None is left out.
        counts: Number of rows of each outcome.
    """
    root = Element("testsuites", {"name": clean(report.run.label), **_counts(counts)})
    yield XML_HEAD
    yield tostring(root, encoding="unicode", short_empty_elements=False)[: -len("</testsuites>")]
    for number, (_, mine) in enumerate(groupby(rows, lambda row: row.issue_id), 1):
        suite = _suite(report, number, list(mine), origin)
        indent(suite)
        yield "\n" + tostring(suite, encoding="unicode")
    yield "\n</testsuites>\n"


def _counts(of: Mapping[str, int]) -> dict[str, str]:
    counts = {
        "tests": sum(of.values()),
        "failures": of.get(Outcome.FAILED, 0),
        "errors": of.get(Outcome.ERROR, 0),
        "skipped": of.get(Outcome.UNSCORED, 0) + of.get(Outcome.PENDING, 0),
    }
    return {name: str(n) for name, n in counts.items()}


def _suite(report: RunReport, number: int, rows: list[Row], origin: Origin) -> Element:
    run, current = report.run, report.current
    suite = Element(
        "testsuite",
        {
            "name": clean(rows[0].issue),
            "id": str(number),
            **_counts(Counter(row.outcome for row in rows)),
            **_time([row.latency_ms for row in rows]),
        },
    )
    known = {
        "issue": str(rows[0].issue_id),
        "run": str(run.pk),
        "model": run.model_name,
        "release": run.release,
        "jury": current.jury_name if current else "",
        "labels": ", ".join(report.labels),
        "site": origin.site,
        "url": origin.url,
        "made_at": origin.made_at.isoformat(timespec="seconds"),
    }
    properties = SubElement(suite, "properties")
    for name, value in known.items():
        if value:
            SubElement(properties, "property", {"name": name, "value": clean(value)})
    suite.extend(map(_case, rows))
    return suite


def _time(measured_ms: Iterable[int | None]) -> dict[str, str]:
    """The seconds that answers took together; nothing where none was measured."""
    measured = [ms for ms in measured_ms if ms is not None]
    return {"time": f"{sum(measured) / 1000:.3f}"} if measured else {}


def _case(row: Row) -> Element:
    case = Element(
        "testcase",
        {
            "name": clean(f"{name_of_test(row.test_id, row.prompt)}, answer {row.repeat}"),
            "classname": clean(row.issue),
            **_time([row.latency_ms]),
        },
    )
    if row.outcome == Outcome.FAILED:
        _add(case, "failure", f"score {score(row.score)}", "failed", _texts(row))
    elif row.outcome == Outcome.ERROR:
        kind = row.error_kind or "unknown"
        _add(case, "error", words(kind), kind, _texts(row))
    elif row.outcome == Outcome.UNSCORED:
        SubElement(case, "skipped", {"message": "unscored: no verdict"})
    elif row.outcome == Outcome.PENDING:
        SubElement(case, "skipped", {"message": "pending: not answered or judged yet"})
    return case


def _add(case: Element, tag: str, message: str, kind: str, text: str) -> None:
    found = SubElement(case, tag, {"message": clean(message), "type": clean(kind)})
    found.text = clean(text)


def _texts(row: Row) -> str:
    parts = [judge.in_words for judge in row.judges]
    parts += [f"Asked: {row.prompt}"] if row.prompt else []
    parts += [f"Answered: {row.answer}"] if row.answer else []
    return "\n".join(parts)


def clean(text: str) -> str:
    """Replace what XML cannot hold."""
    return UNWRITABLE.sub("\ufffd", text)
