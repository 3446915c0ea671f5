"""A run as JUnit XML, for build servers.

Each issue is a suite, each test and repeat a case. Unscored and pending results are skipped.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from evalhub.display.formatting import score, words
from reports.documents.origin import Origin
from reports.queries.result_rows import Row
from reports.run.query import RunReport
from runs.models import Outcome

UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold, however it is escaped."""

XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def junit_lines(report: RunReport, rows: Iterable[Row], origin: Origin) -> Iterator[str]:
    """The document piece by piece: the head, then one suite after the other.

    Args:
        rows: Texts as the reader may read them; None is left out.
    """
    ordered = sorted(rows, key=lambda row: (row.issue_id, row.test_id, row.repeat))
    by_issue = groupby(ordered, lambda row: row.issue_id)
    suites = [
        _suite(report, number, list(mine), origin) for number, (_, mine) in enumerate(by_issue, 1)
    ]
    sums = {
        name: str(sum(int(suite.get(name, 0)) for suite in suites))
        for name in ("tests", "failures", "errors", "skipped")
    }
    root = Element("testsuites", {"name": clean(report.run.label), **sums})
    yield XML_HEAD
    yield tostring(root, encoding="unicode", short_empty_elements=False)[: -len("</testsuites>")]
    for suite in suites:
        indent(suite)
        yield "\n" + tostring(suite, encoding="unicode")
    yield "\n</testsuites>\n"


def _suite(report: RunReport, number: int, rows: list[Row], origin: Origin) -> Element:
    count = Counter(row.outcome for row in rows)
    run, current = report.run, report.current
    suite = Element(
        "testsuite",
        {
            "name": clean(rows[0].issue),
            "id": str(number),
            "tests": str(len(rows)),
            "failures": str(count[Outcome.FAILED]),
            "errors": str(count[Outcome.ERROR]),
            "skipped": str(count[Outcome.UNSCORED] + count[Outcome.PENDING]),
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
            "name": f"test {row.test_id}, answer {row.repeat}",
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
