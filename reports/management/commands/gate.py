"""`gate`: decide whether a run passes and exit with 0, 1 or 2, to stop a release in CI."""

import json
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from time import monotonic, sleep
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error

from reports.gate.exit_codes import ExitCode
from reports.gate.formats import as_json, as_junit, as_markdown, as_text, undecided
from reports.gate.named_runs import NoSuchRun, other_run, run_named
from reports.gate.query import GateResult, changed_policy, gate_result
from runs.gate_policy import SEVERITIES, GatePolicy, PolicyRefused

FORMATS: Mapping[str, Callable[[GateResult], str]] = {
    "text": as_text,
    "json": lambda result: json.dumps(as_json(result), indent=2) + "\n",
    "junit": as_junit,
    "markdown": as_markdown,
}
OFF = "off"
PAUSE_S = 5
"""Between looks at a run that is waited for."""


class Command(BaseCommand):
    help = (
        "Decide whether a run passes the gate of its suite. Exit 0: all rules hold; 1: one does "
        "not; 2: cannot tell, such as below 95% scored results or under another jury. Flags "
        "override the suite's rules; the value 'off' turns a rule off."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="Id or label of the run.")
        parser.add_argument(
            "--against",
            default="",
            help="Id or label of the run to compare with. Default: the suite's baseline, else "
            "the previous run of the same model, system prompt and parameters.",
        )
        for name, read in FLAGS.items():
            option = GatePolicy.model_fields[name]
            parser.add_argument(
                f"--{name.replace('_', '-')}",
                type=read,
                metavar=METAVARS[name],
                help=f"{option.title}. {option.description}".replace("%", "%%"),
            )
        parser.add_argument("--format", choices=FORMATS, default="text", help="Default: text.")
        parser.add_argument(
            "--wait", type=number, default=0, metavar="S", help="Seconds to wait for the run."
        )

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run it; what is no decision, such as a wrong question or no database, exits with 2."""
        try:
            return super().execute(*args, **options)
        except (NoSuchRun, PolicyRefused, CommandError, Error) as error:
            reason = str(error).strip()
            if options.get("format") == "json":
                self.stdout.write(json.dumps(undecided(reason), indent=2))
            raise CommandError(reason, returncode=ExitCode.CANNOT_TELL) from error

    def handle(self, *args: Any, **options: Any) -> None:
        until = monotonic() + options["wait"]
        result = decided(options)
        while result.is_running and monotonic() < until:
            sleep(PAUSE_S)
            result = decided(options)
        self.stdout.write(FORMATS[options["format"]](result), ending="")
        if result.decision.code != ExitCode.HOLDS:
            raise SystemExit(int(result.decision.code))


def decided(options: Mapping[str, Any]) -> GateResult:
    """Return the decision on the run as it is now.

    Raises:
        NoSuchRun: None or several are called so.
        PolicyRefused: The flags do not fit together.
    """
    run = run_named(options["run"])
    given = {name: options[name] for name in FLAGS if options[name] is not None}
    changes = {name: None if value == OFF else value for name, value in given.items()}
    against = other_run(options["against"], run)
    return gate_result(run, against, changed_policy(run, changes))


# Arguments -----------------------------------------------------------------------------------


def share(text: str) -> float | str:
    """Parse a share such as 5% or 0.05."""
    if text == OFF:
        return OFF
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} is not a share from 0 to 1; example: 0.05.")
    return value


def amount(text: str) -> float | str:
    """Parse a limit."""
    if text == OFF:
        return OFF
    try:
        return float(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a number; example: 2.5.") from error


def number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"{text!r} is not a whole number; example: 600.")
    return int(text)


def milliseconds(text: str) -> int | str:
    return OFF if text == OFF else number(text)


def severity(text: str) -> str:
    if text not in (*SEVERITIES, OFF):
        raise ArgumentTypeError(f"{text!r} is none of {', '.join(SEVERITIES)}, {OFF}.")
    return text


def switch(text: str) -> bool:
    if text not in ("on", OFF):
        raise ArgumentTypeError(f"{text!r} is neither on nor {OFF}.")
    return text == "on"


FLAGS: Mapping[str, Callable[[str], Any]] = {
    "significant_regression": switch,
    "alpha": share,
    "max_net_loss_points": amount,
    "failing_severity": severity,
    "min_pass_rate": share,
    "max_p90_latency_ms": milliseconds,
    "max_mean_cost_usd": amount,
}
METAVARS = {
    "significant_regression": "on|off",
    "alpha": "P",
    "max_net_loss_points": "POINTS",
    "failing_severity": "SEVERITY",
    "min_pass_rate": "SHARE",
    "max_p90_latency_ms": "MS",
    "max_mean_cost_usd": "USD",
}
