"""`gate`: decide whether a run passes and exit with 0, 1 or 2, to stop a release in CI."""

import json
from collections.abc import Callable, Mapping
from time import monotonic, sleep
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error

from evalhub_client.gate_flags import add_flags, changes_in, number
from reports.gate.exit_codes import ExitCode
from reports.gate.formats import as_json, as_junit, as_markdown, as_text, undecided
from reports.gate.named_runs import NoSuchRun, other_run, run_named
from reports.gate.query import GateResult, changed_policy, gate_result
from runs.suites.gate_policy import GatePolicy, PolicyRefused

FORMATS: Mapping[str, Callable[[GateResult], str]] = {
    "text": as_text,
    "json": lambda result: json.dumps(as_json(result), indent=2) + "\n",
    "junit": as_junit,
    "markdown": as_markdown,
}
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
        add_flags(parser, in_words)
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
    against = other_run(options["against"], run)
    return gate_result(run, against, changed_policy(run, changes_in(options)))


def in_words(rule: str) -> str:
    option = GatePolicy.model_fields[rule]
    return f"{option.title}. {option.description}"
