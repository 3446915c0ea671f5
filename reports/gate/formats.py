"""The gate's result as text, JSON, JUnit XML and Markdown: each has every rule with its figures."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from evalhub.display.formatting import percent, seconds, usd
from evalhub.notifications.events import link_to
from evalhub.statistics.interval import Interval
from reports.compare.rule import FLIPS, Compared
from reports.compare.two_runs.facts_and_warnings import warnings
from reports.documents.document import Column, Document, Table
from reports.documents.exports import markdown_of
from reports.gate.change_rules import number
from reports.gate.exit_codes import ExitCode
from reports.gate.query import GateResult, detectable
from reports.gate.rule import GateLine, Verdict
from reports.limits import GATE_FLIPS
from reports.queries.names import name_of_test
from reports.run.junit import XML_HEAD, clean
from runs.comparison.tested_rule import Tested
from runs.models import Run


def title_of(result: GateResult) -> str:
    """Name both runs."""
    against = f" against {name(result.against)}" if result.against else ""
    return f"{name(result.run)}{against}"


def name(run: Run) -> str:
    return f"{run.label} (run {run.pk}, {run.model_name})"


def notes_of(result: GateResult) -> list[str]:
    """Return labels and warnings that go with the figures."""
    found = result.comparison
    if found is None:
        return []
    sides = found.first, found.second
    labels = [f"{side.run.label}: {label}" for side in sides for label in side.labels]
    doubts = warnings(found.first, [(found.second, found.comparable)])
    return list(dict.fromkeys((*labels, *doubts)))


class Flip(NamedTuple):
    """A test that flipped, with what it asks; "" where it is sealed, or one of many."""

    one: Compared
    prompt: str
    issue: str

    @property
    def name(self) -> str:
        return name_of_test(self.one.latest.test_id, self.prompt)


def flips_of(result: GateResult) -> list[Flip]:
    """Return the tests that flipped, worst first."""
    comparison = result.comparison
    if comparison is None:
        return []
    return [
        Flip(
            one,
            result.prompts.get(one.latest.revision_id, ""),
            comparison.issues[one.latest.issue_id],
        )
        for one in comparison.rows
        if one.kind in FLIPS
    ]


def flip(one: Compared) -> str:
    return f"{passes(one.first)} → {passes(one.second)}"


def passes(tested: Tested | None) -> str:
    if tested is None:
        return "absent"
    if tested.scored == 1:
        return "passed" if tested.passed else "failed"
    return f"{tested.passed} of {tested.scored} passed"


# Figures -----------------------------------------------------------------------------------------


UNITS: Mapping[str, Callable[[float], str]] = {
    "share": percent,
    "points": lambda value: f"{number(value)} points",
    "p": lambda value: f"p = {value:.2g}",
    "ms": lambda value: seconds(round(value)),
    "usd": usd,
    "tests": lambda value: f"{value:,.0f} failing",
}


def figures_of(line: GateLine) -> str:
    """Return value, limit, n, interval or p, and the method of a line."""
    written = UNITS.get(line.unit, str)
    parts = [
        "" if line.value is None else written(line.value),
        "" if line.limit is None else f"limit {written(line.limit)}",
        f"n = {line.n:,}" if line.n else "",
        "" if line.interval is None else f"95% {_bounds(line.interval, written)}",
        "" if line.p is None or line.unit == "p" else f"p = {line.p:.2g}",
        line.method,
    ]
    return ", ".join(part for part in parts if part)


def _bounds(interval: Interval, written: Callable[[float], str]) -> str:
    return f"{written(interval.low)} to {written(interval.high)}"


# Formats -----------------------------------------------------------------------------------------


def as_text(result: GateResult) -> str:
    """Return the lines of a log: flips, rules, decision."""
    return "\n".join(map(printable, _lines(result))) + "\n"


def _lines(result: GateResult) -> Iterator[str]:
    yield title_of(result)
    yield from (f"! {note}" for note in notes_of(result))
    yield ""
    flips = flips_of(result)
    for one in flips:
        yield f"{one.one.kind:<6}  {one.name}  {flip(one.one)}  {one.issue}"
    yield from [""] if flips else []
    for line in result.lines:
        yield f"{line.verdict.label:<13}  {line.title}: {line.sentence}"
        yield from [f"{'':<13}  {figures_of(line)}"] if line.method else []
        if line.remedy and line.remedy.path:
            body = json.dumps(dict(line.remedy.body))
            yield f"{'':<13}  POST {line.remedy.path} {body}"
            yield f"{'':<13}  or {link_to(line.remedy.page)}"
    yield ""
    yield f"Exit {int(result.decision.code)}: {result.decision.reason}"


def printable(line: str) -> str:
    """Replace control characters, so that no name can start a line or command a terminal."""
    return "".join(sign if sign.isprintable() else " " for sign in line)


def undecided(reason: str) -> dict[str, Any]:
    """Return what `as_json` begins with, where there is no result to decide on."""
    code = ExitCode.CANNOT_TELL
    return {"exit": int(code), "verdict": code.name.lower(), "reason": reason}


def as_json(result: GateResult) -> dict[str, Any]:
    """Return everything in full precision; null is not measured."""
    change, basis = detectable(result)
    return {
        "exit": int(result.decision.code),
        "verdict": result.decision.code.name.lower(),
        "reason": result.decision.reason,
        "is_running": result.is_running,
        "run": result.run.pk,
        "against": result.against.pk if result.against else None,
        "policy": result.policy.model_dump(mode="json"),
        "rules": [rule_as_json(line) for line in result.lines],
        "notes": notes_of(result),
        "detectable": change,
        "detectable_note": basis,
        "flips": [
            {
                "became": one.kind.value,
                "test": one.latest.test_id,
                "prompt": prompt,
                "issue": issue,
                "change": one.change,
            }
            for one, prompt, issue in flips_of(result)
        ],
    }


def rule_as_json(line: GateLine) -> dict[str, Any]:
    remedy = line.remedy
    return {
        "rule": line.rule,
        "title": line.title,
        "verdict": line.verdict.value,
        "sentence": line.sentence,
        "n": line.n,
        "value": line.value,
        "limit": line.limit,
        "unit": line.unit,
        "interval": list(line.interval) if line.interval else None,
        "p": line.p,
        "method": line.method,
        "remedy": remedy
        and {
            "text": remedy.text,
            "path": remedy.path,
            "body": dict(remedy.body),
            "url": link_to(remedy.page),
        },
    }


def as_markdown(result: GateResult) -> str:
    """Return the result for a comment on a pull request."""
    flips = flips_of(result)
    listed = tuple(
        (one.one.kind.value, one.name, one.issue, flip(one.one)) for one in flips[:GATE_FLIPS]
    )
    rules = Table(
        key="rules",
        title="Rules",
        columns=(
            Column("title", "Rule"),
            Column("verdict", "Verdict"),
            Column("sentence", "Finding"),
            Column("figures", "Figures"),
        ),
        rows=[
            (line.title, line.verdict.label, line.sentence, figures_of(line))
            for line in result.lines
        ],
    )
    changed = Table(
        key="flips",
        title="Flipped tests",
        columns=(
            Column("became", "Became"),
            Column("test", "Test"),
            Column("issue", "Issue"),
            Column("change", "Change"),
        ),
        rows=listed,
        note=f"{len(flips) - len(listed):,} more are left out." if flips[GATE_FLIPS:] else "",
    )
    verdict = result.decision.code.name.lower().replace("_", " ").capitalize()
    remedies = [line.remedy for line in result.lines if line.remedy and line.remedy.page]
    report = markdown_of(
        Document(
            title=f"Gate: {verdict}",
            sentences=(title_of(result), result.decision.reason),
            tables=(rules, changed) if flips else (rules,),
            warnings=tuple(notes_of(result)),
        )
    )
    links = [f"\n- [{remedy.text}](<{link_to(remedy.page)}>)\n" for remedy in remedies]
    return "".join((report, *links))


def as_junit(result: GateResult) -> str:
    """Return a case for each rule: a failure if it does not hold, an error if it cannot tell."""
    return _junit(title_of(result), [_case(line) for line in result.lines])


def _case(line: GateLine) -> Element:
    case = Element("testcase", {"name": line.title, "classname": f"gate.{line.rule}"})
    if line.verdict == Verdict.HOLDS:
        SubElement(case, "system-out").text = clean(f"{line.sentence}\n{figures_of(line)}")
    else:
        tag = "failure" if line.verdict == Verdict.DOES_NOT_HOLD else "error"
        attributes = {"message": clean(line.sentence), "type": line.verdict.value}
        SubElement(case, tag, attributes).text = clean(figures_of(line))
    return case


def _junit(name: str, cases: Sequence[Element]) -> str:
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
    }
    sums = {key: str(n) for key, n in counts.items()}
    root = Element("testsuites", {"name": "EvalHub gate", **sums})
    SubElement(root, "testsuite", {"name": clean(name), **sums}).extend(cases)
    indent(root)
    return f"{XML_HEAD}{tostring(root, encoding='unicode')}\n"


# Refused requests --------------------------------------------------------------------------------


def problem_in_words(problem: Mapping[str, Any]) -> str:
    return str(problem["detail"])


def junit_problem(problem: Mapping[str, Any]) -> str:
    """Return a suite with one error: a wrong question is no regression."""
    case = Element("testcase", {"name": "Request", "classname": "gate.request"})
    message = clean(problem_in_words(problem))
    SubElement(case, "error", {"message": message, "type": Verdict.CANNOT_TELL.value})
    return _junit("Request", [case])


def markdown_problem(problem: Mapping[str, Any]) -> str:
    return markdown_of(Document("Gate: Cannot tell", sentences=(problem_in_words(problem),)))
