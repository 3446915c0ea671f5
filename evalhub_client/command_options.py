"""The arguments of the remote commands."""

import json
import math
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from evalhub_client.gate_flags import add_flags, number

COMMANDS = ("run", "wait", "gate", "results", "push-tests", "pull-tests", "push-answers")
OUTCOMES = ("passed", "failed", "unscored", "error", "pending")
ENVIRONMENT = (
    "EVALHUB_URL is the site's address and EVALHUB_TOKEN a token from Settings, Tokens; "
    "EVALHUB_TOKEN_FILE names a file with the token instead."
)


def parser() -> ArgumentParser:
    """Return the parser; `command`, `format` and `url` are always there."""
    top = ArgumentParser("evalhub", description="Commands for a remote site.", epilog=ENVIRONMENT)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, about: str, *formats: str) -> ArgumentParser:
        one: ArgumentParser = commands.add_parser(
            name, help=about, description=about, epilog=ENVIRONMENT
        )
        one.add_argument("--url", help="Address of the site. Default: EVALHUB_URL.")
        choices = ("text", "json", *formats)
        one.add_argument("--format", choices=choices, default="text", help="Default: text.")
        one.add_argument(
            "--json",
            action="store_const",
            const="json",
            dest="format",
            help="Same as --format json.",
        )
        return one

    _add_launch(add("run", "Start runs and print their ids."), selects=True)
    _add_launch(_with_file(add("push-answers", "Make a run of answers made elsewhere.")))
    waiting = add("wait", "Wait for runs; exit 0 if all are done, else 2.")
    waiting.add_argument("runs", nargs="+", type=number, metavar="RUN", help="Id of a run.")
    waiting.add_argument(
        "--timeout", dest="wait", type=number, metavar="S", help="Stop waiting after S seconds."
    )
    _add_gate(add("gate", GATE, "junit", "markdown"))
    results = add("results", "Print the results of a run.", "jsonl")
    results.add_argument("run", type=number, metavar="RUN", help="Id of the run.")
    results.add_argument("--outcome", action="append", choices=OUTCOMES, help="Can be repeated.")
    pushing = _with_file(add("push-tests", "Create tests, or change those of the same source_id."))
    pushing.add_argument("--issue", type=number, help="Issue of the tests that name none.")
    pulling = add("pull-tests", "Print tests as push-tests takes them, one a line.", "jsonl")
    pulling.add_argument("--issue", type=number, help="Id of their issue.")
    pulling.add_argument("--tag", help="Name of a tag of the test or its issue.")
    pulling.add_argument("--state", help="Such as approved.")
    return top


GATE = (
    "Decide whether a run passes the gate of its suite. Exit 0: all rules hold; 1: one does not; "
    "2: cannot tell. Flags override the suite's rules; the value 'off' turns a rule off."
)


def _with_file(one: ArgumentParser) -> ArgumentParser:
    one.add_argument("file", metavar="FILE", help="JSON lines or a JSON list; - reads them here.")
    return one


def _add_launch(one: ArgumentParser, *, selects: bool = False) -> None:
    one.add_argument("--label", required=True, help="Name of the runs.")
    one.add_argument("--release", default="", help="Version of the system under test.")
    one.add_argument("--suite", help="Id or name of the suite.")
    one.add_argument(
        "--model", action="append", required=True, help="Id or name of a model under test."
    )
    one.add_argument("--jury", help="Id or name of the jury.")
    if selects:
        one.add_argument("--test", action="append", type=number, help="Id of a test.")
        one.add_argument("--issue", action="append", type=number, help="Id of an issue.")
        one.add_argument("--tag", action="append", help="Id or name of a tag.")
    one.add_argument(
        "--option",
        action="append",
        type=option,
        default=[],
        metavar="NAME=JSON",
        help="Another field of the launch, such as repeats=3 or temperatures=[0,0.7].",
    )
    one.add_argument(
        "--idempotency-key",
        default="",
        metavar="KEY",
        help="Your name for this command: run again with it within a day, it starts nothing new.",
    )
    one.add_argument(
        "--wait",
        nargs="?",
        type=number,
        const=math.inf,
        metavar="S",
        help="Wait until they are done, at most S seconds; exit 2 if they are not.",
    )


def _add_gate(one: ArgumentParser) -> None:
    one.add_argument("run", metavar="RUN", help="Id or label of the run.")
    one.add_argument(
        "--against",
        default="",
        metavar="OTHER",
        help="Id or label of the run to compare with. Default: the suite's baseline, else the "
        "previous run of the same model, system prompt and parameters.",
    )
    add_flags(one, lambda rule: f"Rule {rule} of the suite's gate.")
    one.add_argument("--junit", metavar="FILE", help="Write JUnit XML to this file too.")
    one.add_argument("--wait", type=number, metavar="S", help="Seconds to wait for the run.")


def option(text: str) -> tuple[str, Any]:
    """Parse NAME=JSON; what is no JSON is a text."""
    name, is_given, value = text.partition("=")
    if not is_given:
        raise ArgumentTypeError(f"{text!r} is no NAME=JSON; example: repeats=3.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
