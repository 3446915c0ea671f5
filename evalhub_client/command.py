"""`evalhub run`, `wait`, `gate`, ...: a remote site from a shell or a pipeline.

Exit codes: 0 done, or the gate holds; 1 the gate does not hold; 2 anything else.
"""

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalhub_client.client import Client
from evalhub_client.command_options import parser
from evalhub_client.errors import ApiError, EvalHubError
from evalhub_client.gate_flags import changes_in
from evalhub_client.progress_bar import ProgressBar
from evalhub_client.shapes import Run
from evalhub_client.test_files import rows_in

CANNOT_TELL = 2
INTERRUPTED = 130
EXCERPT = 80


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = parser().parse_args(arguments)
    act = ACTS[options.command]
    try:
        with Client(options.url) as evalhub:
            return act(evalhub, options)
    except (EvalHubError, OSError) as error:
        if options.format == "json":
            say_json(refusal(options.command, error))
        sys.stderr.write(f"{error}\n")
        return CANNOT_TELL
    except KeyboardInterrupt:
        sys.stderr.write("Stopped waiting. Runs go on.\n")
        return INTERRUPTED


def refusal(command: str, error: Exception) -> dict[str, Any]:
    """Return an error as JSON; the gate's begins like its decision."""
    if command == "gate":
        return {"exit": CANNOT_TELL, "verdict": "cannot_tell", "reason": str(error)}
    found: dict[str, Any] = {"exit": CANNOT_TELL, "error": str(error)}
    if isinstance(error, ApiError):
        found |= {"status": error.status, "code": error.code, "problems": error.problems}
    return found


# Runs --------------------------------------------------------------------------------------------


def run(evalhub: Client, options: Namespace) -> int:
    launch = evalhub.launch(**spec_of(evalhub, options))
    return started(evalhub, launch["runs"], options)


def push_answers(evalhub: Client, options: Namespace) -> int:
    answers: Any = rows_in(text_of(options.file))
    made = evalhub.push_answers(answers, **spec_of(evalhub, options))
    return started(evalhub, [made["id"]], options)


def started(evalhub: Client, runs: Sequence[int], options: Namespace) -> int:
    """Print the ids of new runs, one a line, and wait for them if that is asked for."""
    if options.format != "json":
        sys.stdout.write("".join(f"{number}\n" for number in runs))
        sys.stdout.flush()
    if options.wait is not None:
        return waited(evalhub, runs, options, out=sys.stderr)
    if options.format == "json":
        say_json([evalhub.run(number) for number in runs])
    return 0


def wait(evalhub: Client, options: Namespace) -> int:
    return waited(evalhub, options.runs, options, out=sys.stdout)


def waited(evalhub: Client, runs: Sequence[int], options: Namespace, *, out: Any) -> int:
    """Wait and say how each run ended; 0 if all are done."""
    bar = ProgressBar()
    try:
        ended = evalhub.wait(runs, timeout_s=options.wait, watch=bar)
    finally:
        bar.close()
    if options.format == "json":
        say_json(ended)
    else:
        out.write("".join(f"{sentence_of(one)}\n" for one in ended))
    return 0 if all(one["state"] == "done" for one in ended) else CANNOT_TELL


def sentence_of(run: Run) -> str:
    reason = f" {run['reason']}" if run["reason"] else ""
    return f"Run {run['id']} ({run['label']}, {run['model_name']}) is {run['state']}.{reason}"


def spec_of(evalhub: Client, options: Namespace) -> Any:
    """Return the arguments of the launch that the flags describe; names become ids."""
    spec: dict[str, Any] = {
        "idempotency_key": options.idempotency_key,
        "label": options.label,
        "release": options.release,
        "models": [evalhub.find("language-models", name) for name in options.model],
        **dict(options.option),
    }
    if options.suite:
        spec["suite"] = evalhub.find("suites", options.suite)
    if options.jury:
        spec["jury"] = evalhub.find("juries", options.jury)
    if getattr(options, "tag", None):
        spec["tags"] = [evalhub.find("tags", name) for name in options.tag]
    for field, given in (("tests", "test"), ("issues", "issue")):
        if numbers := getattr(options, given, None):
            spec[field] = numbers
    return spec


# Results and gate --------------------------------------------------------------------------------


def results(evalhub: Client, options: Namespace) -> int:
    filters = {"outcome": options.outcome} if options.outcome else {}
    rows = evalhub.results(options.run, **filters)
    say_rows(rows, options, result_line)
    return 0


def result_line(row: Mapping[str, Any]) -> str:
    score = "–" if row["score"] is None else f"{row['score']:.2f}"
    answer = " ".join((row["answer"] or "").split())
    excerpt = answer if len(answer) <= EXCERPT else f"{answer[: EXCERPT - 1]}…"
    name = row["test_source_id"] or row["test"]
    return f"{name}\t{row['outcome']}\t{score}\t{printable(excerpt)}"


def gate(evalhub: Client, options: Namespace) -> int:
    question: Any = {"against": options.against, "policy": changes_in(vars(options))}
    decision = evalhub.gate(options.run, wait_s=options.wait or 0, **question)
    code: int = decision["exit"]
    if options.format == "json":
        say_json(decision)
    else:
        report = evalhub.gate_report(options.run, options.format, **question)
        sys.stdout.write(report.text)
        code = report.exit
    if options.junit:
        junit = evalhub.gate_report(options.run, "junit", **question)
        Path(options.junit).write_text(junit.text, encoding="utf-8")
    return code


# Tests -------------------------------------------------------------------------------------------


def push_tests(evalhub: Client, options: Namespace) -> int:
    tests = rows_in(text_of(options.file))
    if options.issue:
        tests = [{"issue": options.issue, **test} for test in tests]
    pushed = evalhub.push_tests(tests)
    if options.format == "json":
        say_json(pushed)
    else:
        counts = ", ".join(f"{len(ids)} {done}" for done, ids in pushed.items())
        sys.stdout.write(f"Tests: {counts}.\n")
    return 0


def pull_tests(evalhub: Client, options: Namespace) -> int:
    chosen = {"issue": options.issue, "tag": options.tag, "state": options.state}
    tests = evalhub.pull_tests(**{name: value for name, value in chosen.items() if value})
    say_rows(tests, options, lambda test: json.dumps(test, ensure_ascii=False))
    return 0


ACTS: Mapping[str, Callable[[Client, Namespace], int]] = {
    "run": run,
    "wait": wait,
    "gate": gate,
    "results": results,
    "push-tests": push_tests,
    "pull-tests": pull_tests,
    "push-answers": push_answers,
}


# Texts -------------------------------------------------------------------------------------------


def text_of(file: str) -> str:
    return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")


def say_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def say_rows(
    rows: Sequence[Mapping[str, Any]],
    options: Namespace,
    line_of: Callable[[Mapping[str, Any]], str],
) -> None:
    """Print rows as one JSON list, as JSON lines or as text."""
    if options.format == "json":
        say_json(rows)
        return
    if options.format == "jsonl":
        line_of = json.dumps
    sys.stdout.write("".join(f"{line_of(row)}\n" for row in rows))


def printable(text: str) -> str:
    """Replace control characters, so that no answer commands a terminal."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
