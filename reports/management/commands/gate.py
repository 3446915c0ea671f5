"""`gate`: compare a run with another and exit with 0, 1 or 2, to stop a release in CI."""

import json
from argparse import ArgumentTypeError
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalhub.statistics.detectable import measured_from
from reports.compare.evidence_rule import Findings
from reports.compare.facts_and_warnings import warnings
from reports.compare.matching_rule import Tested
from reports.compare.query import Comparison
from reports.compare.rule import FLIPS, Compared, net_change
from reports.compare.sentences import sentences
from reports.documents.cells import points
from reports.gate.exit_codes import ExitCode
from reports.gate.query import gate_input, gate_result
from reports.gate.rule import MAX_MISSING, GateDecision, Limits
from runs.baselines import opponent_of
from runs.figures.run_labels import names_of_pair
from runs.models import Run


class Command(BaseCommand):
    help = "Compare a run with another and exit by a rule. " + Limits().in_words()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="Id or label of the run.")
        parser.add_argument(
            "--against",
            default="",
            help="Id or label of the run to compare with. Default: the suite's baseline, else "
            "the previous run of the same model, system prompt and parameters.",
        )
        parser.add_argument("--alpha", type=share, default=Limits().alpha, help="Default 0.05.")
        parser.add_argument(
            "--max-worse", type=number, help="Most tests that may be worse (default: any)."
        )
        parser.add_argument("--max-missing", type=share, default=MAX_MISSING, help="Default 5%%.")
        parser.add_argument("--json", action="store_true", help="Print JSON instead of text.")

    def handle(self, *args: Any, **options: Any) -> None:
        run = found_run(options["run"])
        against = other_run(options["against"], run)
        limits = Limits(options["alpha"], options["max_worse"], options["max_missing"])
        gate = gate_result(run, against, limits)
        comparison, computed, ruling = gate.comparison, gate.computed, gate.ruling
        if options["json"]:
            self.stdout.write(json.dumps(as_json(comparison, computed, limits, ruling), indent=2))
        else:
            lines = as_text(comparison, computed, limits, ruling)
            self.stdout.write("\n".join(map(printable, lines)))
        if ruling.code != ExitCode.PASSES:
            raise SystemExit(int(ruling.code))


# Arguments -----------------------------------------------------------------------------------


def refusal(message: str) -> CommandError:
    """Return an error that exits with CANNOT_TELL: a wrong question is no regression."""
    return CommandError(message, returncode=ExitCode.CANNOT_TELL)


def found_run(named: str) -> Run:
    """Return the run with this id or label.

    Raises:
        CommandError: There is none, or there are several.
    """
    runs = Run.objects.select_related("suite")
    if named.isascii() and named.isdigit() and len(named) < 18:
        by_number = runs.filter(pk=int(named)).first()
        if by_number is not None:
            return by_number
    labelled = list(runs.filter(label=named)[:10])
    if not labelled:
        raise refusal(f"There is no run {named!r}: give the id or label of a run.")
    if len(labelled) > 1:
        numbers = ", ".join(str(run.pk) for run in labelled)
        raise refusal(f"Several runs are called {named!r}: give one of the ids {numbers}.")
    return labelled[0]


def other_run(named: str, run: Run) -> Run:
    """Return the run to compare with: the one named, else the run's opponent.

    Raises:
        CommandError: There is no such run, or no opponent.
    """
    if named:
        return found_run(named)
    opponent = opponent_of(run)
    if opponent is None:
        raise refusal(
            f"There is nothing to compare {run.label} with: its suite has no baseline that shares "
            "a test with it, and no earlier complete run of the same model, system prompt and "
            "parameters. Set a baseline on the page Compare, or name a run with --against."
        )
    return opponent


def share(text: str) -> float:
    """Parse a share such as 5% or 0.05."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} is not a share from 0 to 1; example: 0.05.")
    return value


def number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"{text!r} is not a number of tests; example: 3.")
    return int(text)


# Output ------------------------------------------------------------------------------------


def as_text(
    comparison: Comparison, computed: Findings, limits: Limits, ruling: GateDecision
) -> Iterator[str]:
    """Yield the lines of the log: warnings, flips, findings, rule and decision."""
    first, second = comparison.first, comparison.second
    yield f"{name(second.run)} against {name(first.run)}"
    labels = [f"{side.run.label}: {label}" for side in (first, second) for label in side.labels]
    for line in dict.fromkeys((*labels, *warnings((first, second)))):
        yield f"! {line}"
    yield ""
    for one in comparison.rows:
        if one.kind in FLIPS:
            issue = comparison.issues[one.latest.issue_id]
            yield f"{one.kind:<6}  test {one.latest.test_id}  {flip(one)}  {issue}"
    yield from sentences(comparison.rows, computed, first=first.run.label, second=second.run.label)
    net = net_change(comparison.rows)
    if net is not None:
        yield f"Net change: {points(net)}."
    yield ""
    yield f"Rule: {limits.in_words()}"
    yield f"Exit {int(ruling.code)}: {ruling.reason}"


def as_json(
    comparison: Comparison, computed: Findings, limits: Limits, ruling: GateDecision
) -> dict[str, Any]:
    """Return the same as JSON, in full precision; null is not measured."""
    found, detectable = gate_input(comparison, computed), computed.detectable
    first, second = comparison.first.run, comparison.second.run
    return {
        "exit": int(ruling.code),
        "reason": ruling.reason,
        "rule": limits.in_words(),
        "run": comparison.second.run.pk,
        "against": comparison.first.run.pk,
        "labels": {
            str(side.run.pk): list(side.labels) for side in (comparison.first, comparison.second)
        },
        "warnings": list(warnings((comparison.first, comparison.second))),
        "worse": found.tally.worse,
        "better": found.tally.better,
        "same": found.tally.same,
        "matched": found.matched,
        "missing_share": found.missing,
        "net_change": found.net,
        "p": found.p,
        "p_rule": computed.evidence.rule,
        "p_if_independent": computed.evidence.if_independent,
        "p_caveat": computed.evidence.caveat,
        "detectable": detectable and detectable.change,
        "detectable_note": detectable.note(measured_from(*names_of_pair(first, second)))
        if detectable
        else "",
        "flips": [
            {
                "became": one.kind.value,
                "test": one.latest.test_id,
                "issue": comparison.issues[one.latest.issue_id],
                "change": one.change,
            }
            for one in comparison.rows
            if one.kind in FLIPS
        ],
    }


def name(run: Run) -> str:
    return f"{run.label} (run {run.pk}, {run.model_name})"


def flip(one: Compared) -> str:
    return f"{passes(one.first)} → {passes(one.second)}"


def printable(line: str) -> str:
    """Replace control characters, so that no name can start a line or command a terminal."""
    return "".join(sign if sign.isprintable() else " " for sign in line)


def passes(tested: Tested | None) -> str:
    if tested is None:
        return "absent"
    if tested.scored == 1:
        return "passed" if tested.passed else "failed"
    return f"{tested.passed} of {tested.scored} passed"
