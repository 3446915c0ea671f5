"""GRAFITE's JSON files → records, with every problem of all files at once. Pure.

A ledger is `issue.json`, `test.json`, `settings.json` and `run.json`, perhaps `feedback.json`, and
for each run `<run_id>.json` with its results.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from runs.importers.grafite_errors import is_error
from runs.importers.grafite_records import (
    Asked,
    Comment,
    FeedbackRecord,
    IssueRecord,
    Ledger,
    ResultRecord,
    RunRecord,
    TestRecord,
    Vote,
)
from runs.importers.reading import Problem, Row, rows_of, shown

REQUIRED = ("issue.json", "test.json", "settings.json", "run.json")
RUN_ID = re.compile(r"\w[\w.-]*")
TEMPLATES = {
    "Prompt template 1": "input-output-reference-guidelines",
    "Prompt template 2": "output-reference-guidelines",
    "Prompt template 3": "input-output-guidelines",
}
"""Its judge types, by how their names begin, → families of our built-in templates."""

NO_JUDGE = ("", "Custom script or program")
RATINGS = {"THUMBS_UP": "up", "THUMBS_DOWN": "down", "": "none"}
RUN_STATES = {
    "done": "done",
    "failed": "failed",
    "started": "cancelled",
    "in progress": "cancelled",
}
NOT_PARAMETERS = ("additional_params", "additional_judge_system_prompt")


def read_ledger(files: Mapping[str, str]) -> Ledger:
    """The ledger in these files (name → text)."""
    ledger = Ledger()
    for name in REQUIRED:
        if name not in files:
            ledger.problems.append(Problem(name, "there is no such file."))
    tables = [name for name in (*REQUIRED, "feedback.json") if name in files]
    rows = {name: rows_of(files[name], name, ledger.problems) for name in tables}
    _read_labels(rows.get("settings.json", []), ledger)
    ledger.feedback = [feedback(row) for row in rows.get("feedback.json", [])]
    ledger.issues = [issue(row) for row in rows.get("issue.json", [])]
    ledger.tests = [test(row) for row in rows.get("test.json", [])]
    ledger.runs = [run(row, files) for row in rows.get("run.json", [])]
    _check_ids(rows)
    _check_links(ledger, with_feedback="feedback.json" in rows)
    _check_files(ledger, files)
    ledger.problems = sorted(dict.fromkeys(ledger.problems), key=_in_order_of_files)
    return ledger


def _in_order_of_files(problem: Problem) -> tuple[str, list[int]]:
    file = problem.place.partition(".json")[0]
    return file, [int(number) for number in re.findall(r"\[(\d+)\]", problem.place)]


def _read_labels(rows: Iterable[Row], ledger: Ledger) -> None:
    for row in rows:
        if row.fields.get("_id") == "labels":
            labels = row.row("issue")
            ledger.tags += labels.texts("tag", most=100)
            ledger.resolution_labels += labels.texts("resolution", most=100)


# Feedback and issues -----------------------------------------------------------------------------


def feedback(row: Row) -> FeedbackRecord:
    said = row.row("raw_feedback")
    rating = said.text("user_rating")
    if rating not in RATINGS:
        said.note("user_rating", f"expected THUMBS_UP, THUMBS_DOWN or null, not {shown(rating)}.")
    more = ("tags", "recommended_fix", "revision")
    return FeedbackRecord(
        source_id=row.identifier("_id"),
        source=row.text("source", most=100),
        model=row.text("model_id", most=200),
        prompt=_as_text(said.fields.get("model_input")),
        answer=_as_text(said.fields.get("model_output")),
        rating=RATINGS.get(rating, "none"),
        comment=said.text("user_comment"),
        note="\n".join(_triage_notes(row)),
        raw={**said.fields, **{key: row.fields[key] for key in more if row.fields.get(key)}},
    )


def _triage_notes(row: Row) -> list[str]:
    """What triagers and others wrote, with who did."""
    comments = [*row.row("triage").rows("comments"), *row.rows("comments")]
    said = [(c.text("author"), c.text("comment") or c.text("text")) for c in comments]
    return [f"{author}: {text}" if author else text for author, text in said if text]


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def issue(row: Row) -> IssueRecord:
    triage = row.row("triage")
    return IssueRecord(
        place=row.place,
        source_id=row.identifier("_id"),
        title=row.text("title", required=True, most=200),
        description=row.text("description"),
        author=next(iter(row.texts("authors", most=150)), ""),
        state=_issue_state(row, triage),
        tags=row.texts("tags", most=100),
        resolution_labels=triage.texts("resolution", most=100),
        resolution_note=triage.text("note"),
        sources=[_source(source) for source in row.rows("sources")],
        comments=[_comment(comment) for comment in row.rows("comments")],
        feedback_ids=row.identifiers("feedback_ids"),
        test_ids=row.identifiers("test_ids"),
    )


def _issue_state(row: Row, triage: Row) -> str:
    if triage.flag("resolved") and row.flag("active", True):
        return "resolved"
    return _state(row, triage)


def _state(row: Row, triage: Row) -> str:
    """The state that the switches mean, in the order in which GRAFITE reads them."""
    if not row.flag("active", True):
        return "deprecated"
    if triage.flag("approved"):
        return "approved"
    return "in_review" if triage.flag("ready_for_review") else "draft"


def _source(row: Row) -> tuple[str, str]:
    kind = row.text("type") or "general"
    if kind not in ("general", "github"):
        row.note("type", f"expected general or github, not {shown(kind)}.")
    return kind, row.text("value", required=True, most=500)


def _comment(row: Row) -> Comment:
    return Comment(
        row.text("text", required=True), row.text("author", most=150), row.moment("created_time")
    )


# Tests -------------------------------------------------------------------------------------------


def test(row: Row) -> TestRecord:
    asked, ending = _asked_of_test(row)
    flagged = row.verbatim("sample_output") or ending
    by = row.text("desired_output_source") or "unknown"
    if by not in ("human", "model", "unknown"):
        row.note("desired_output_source", f"expected human, model or null, not {shown(by)}.")
    flags = row.texts("flags")
    return TestRecord(
        place=row.place,
        source_id=row.identifier("_id"),
        issue_id=row.identifier("issue_id"),
        author=row.text("author", most=150),
        asked=asked,
        tools=[dict(tool.fields) for tool in row.rows("tools")],
        flagged_answer="" if flagged.strip() == asked.reference.strip() else flagged,
        reference_by=by,
        note="\n".join(_test_notes(row, flags)),
        state=_state(row, row.row("triage")),
    )


test.__test__ = False  # type: ignore[attr-defined]


def _test_notes(row: Row, flags: list[str]) -> list[str]:
    comments = [_comment(comment) for comment in row.rows("comments")]
    said = [f"{comment.author}: {comment.text}" for comment in comments]
    return [f"Flags: {', '.join(flags)}", *said] if flags else said


def _asked_of_test(row: Row) -> tuple[Asked, str]:
    """What is asked, and the answer that ended the conversation, if one did."""
    validator = next(iter(row.rows("validators")), None)
    judge = validator.row("parameters") if validator else Row({}, row.place, row.problems)
    messages, ending = _messages(row, "prompt")
    asked = Asked(
        messages=messages,
        reference=row.verbatim("desired_output"),
        guidelines=judge.verbatim("judge_guidelines"),
        template=_template(judge),
    )
    return asked, ending


def _template(judge: Row) -> str | None:
    name = judge.text("judge_type")
    if name in NO_JUDGE:
        return None
    for start, family in TEMPLATES.items():
        if name == start or name.startswith(f"{start}:"):
            return family
    judge.note("judge_type", f"expected one of {', '.join(TEMPLATES)}, not {shown(name)}.")
    return None


def _messages(row: Row, prompt: str) -> tuple[list[dict[str, Any]], str]:
    """The conversation, or the free prompt as one message; and the answer it ended with.

    A chat is stored with the answer that the author saw: left in, nothing would be asked.
    """
    said = row.rows("messages")
    messages = [_message(message) for message in said]
    if not messages:
        text = row.verbatim(prompt)
        if not text.strip():
            row.note("messages", f"there are neither messages nor a {prompt}.")
        return [{"role": "user", "content": text}], ""
    last = messages[-1]
    if len(messages) > 1 and last["role"] == "assistant" and last.get("content"):
        return messages[:-1], str(last["content"])
    if last["role"] not in ("user", "tool"):
        said[-1].note("role", f"nothing is left to answer: {shown(last['role'])} comes last.")
    return messages, ""


def _message(row: Row) -> dict[str, Any]:
    role = row.text("role")
    if role not in ("system", "user", "assistant", "tool"):
        row.note("role", f"expected system, user, assistant or tool, not {shown(role)}.")
    calls = row.fields.get("tool_calls")
    content = row.fields.get("content")
    has_text = isinstance(content, str) and content.strip()
    if not has_text and not (role == "assistant" and calls):
        row.note("content", f"expected text, not {shown(content)}.")
    more = ("name", "tool_call_id", "tool_calls")
    return {
        "role": role,
        "content": content if has_text else None,
        **{key: row.fields[key] for key in more if row.fields.get(key)},
    }


# Runs --------------------------------------------------------------------------------------------


def run(row: Row, files: Mapping[str, str]) -> RunRecord:
    name = row.text("run_id", required=True, most=100)
    state = row.text("status") or "done"
    if state not in RUN_STATES:
        row.note("status", f"expected one of {', '.join(RUN_STATES)}, not {shown(state)}.")
    judges = row.texts("judge_model_ids", most=100) or [row.text("judge_model_id", most=100)]
    config = _config(row)
    return RunRecord(
        place=row.place,
        source_id=name,
        creator=row.text("creator", most=150),
        model=row.text("model_id", required=True, most=100),
        provider=row.text("source", most=50) or "ollama",
        judges=[judge for judge in judges if judge],
        judge_system_prompt=str(config.get("additional_judge_system_prompt") or ""),
        params=_params(config),
        state=RUN_STATES.get(state, "done"),
        reason=row.text("error_msg") or _reason(state),
        created_at=row.moment("created_at"),
        elapsed_s=_seconds(row),
        results=[result(r) for r in _results_of(row, name, state, files)],
    )


def _reason(state: str) -> str:
    return f"It was {state} when it was exported." if RUN_STATES.get(state) == "cancelled" else ""


def _results_of(row: Row, name: str, state: str, files: Mapping[str, str]) -> list[Row]:
    file = f"{name}.json"
    if name and not RUN_ID.fullmatch(name):
        row.note("run_id", f"{shown(name)} cannot be the name of a file with results.")
    elif file in files and file not in (*REQUIRED, "feedback.json"):
        return rows_of(files[file], file, row.problems)
    elif name and state == "done":
        row.note("run_id", f"there is no file {file} with its results.")
    return []


def _config(row: Row) -> Mapping[str, Any]:
    """The run's settings; old runs have them as text."""
    config = row.fields.get("config")
    return {"config": config} if isinstance(config, str) else row.row("config").fields


def _params(config: Mapping[str, Any]) -> dict[str, Any]:
    given = {k: v for k, v in config.items() if k not in NOT_PARAMETERS and v is not None}
    more = config.get("additional_params")
    return {**given, **more} if isinstance(more, dict) else given


def _seconds(row: Row) -> float | None:
    text = row.text("elapsed_time")
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(?: seconds)?", text)
    if text and not found:
        row.note("elapsed_time", f"expected a time such as 861.5 seconds, not {shown(text)}.")
    return float(found[1]) if found else None


def result(row: Row) -> ResultRecord:
    messages, _ = _messages(row, "prompt_text")
    prompt, answer = row.verbatim("judge_prompt"), row.verbatim("model_response")
    failed = is_error(answer)
    return ResultRecord(
        place=row.place,
        test_id=row.identifier("test_id"),
        asked=Asked(
            messages=messages,
            reference=row.verbatim("ground_truth"),
            guidelines=row.verbatim("judge_guidelines"),
            template=_template_of(prompt),
        ),
        judge_prompt=prompt,
        answer="" if failed else answer,
        error=answer if failed else "",
        votes=[_vote(vote) for vote in row.rows("judge_results")],
    )


def _template_of(prompt: str) -> str | None:
    """The built-in template that shows what this wording shows; None where there is none."""
    if not prompt:
        return None
    if "{{ground_truth}}" not in prompt:
        return "input-output-guidelines"
    shows_input = "{{prompt_text}}" in prompt
    return "input-output-reference-guidelines" if shows_input else "output-reference-guidelines"


def _vote(row: Row) -> Vote:
    is_human = row.text("type") == "human"
    text = row.text("test_justification")
    score = row.fields.get("test_score")
    no_vote = not is_human and is_error(text)
    if not no_vote and (isinstance(score, bool) or score not in (0, 1)):
        row.note("test_score", f"expected 0 or 1, not {shown(score)}.")
        score = 0
    return Vote(
        voter=row.text("model_id", required=True, most=100),
        is_human=is_human,
        value=None if no_vote else float(score or 0),
        justification=text,
    )


# What must fit together --------------------------------------------------------------------------


def _check_ids(rows: Mapping[str, list[Row]]) -> None:
    keys: dict[str, Callable[[Row], str]] = {
        "feedback.json": _id_of,
        "issue.json": _id_of,
        "test.json": _id_of,
        "run.json": lambda row: str(row.fields.get("run_id") or ""),
    }
    for name, key in keys.items():
        first: dict[str, str] = {}
        for row in rows.get(name, []):
            found = key(row)
            if found and found in first:
                row.note("", f"{shown(found)} is the id of {first[found]} already.")
            first.setdefault(found, row.place)


def _id_of(row: Row) -> str:
    return Row(row.fields, row.place, []).identifier("_id")


def _check_links(ledger: Ledger, *, with_feedback: bool) -> None:
    issues = {record.source_id for record in ledger.issues}
    tests = {record.source_id for record in ledger.tests}
    known = {record.source_id for record in ledger.feedback}
    problems = ledger.problems
    for issue in ledger.issues:
        problems += _unknown(issue.place, "test_ids", issue.test_ids, tests, "test.json")
        if with_feedback:
            ids = issue.feedback_ids
            problems += _unknown(issue.place, "feedback_ids", ids, known, "feedback.json")
    for test in ledger.tests:
        problems += _unknown(test.place, "issue_id", [test.issue_id], issues, "issue.json")
    for run in ledger.runs:
        problems += _result_problems(run, tests)


def _check_files(ledger: Ledger, files: Mapping[str, str]) -> None:
    named = {f"{run.source_id}.json" for run in ledger.runs}
    for name in files:
        if name.startswith("run_") and name not in named:
            ledger.problems.append(Problem(name, "no row of run.json names this run."))


def _unknown(
    place: str, field: str, ids: Iterable[str], known: set[str], file: str
) -> list[Problem]:
    return [
        Problem(f"{place}.{field}", f"{file} has no row with the id {shown(source_id)}.")
        for source_id in ids
        if source_id and source_id not in known
    ]


def _result_problems(run: RunRecord, tests: set[str]) -> list[Problem]:
    problems: list[Problem] = []
    first: dict[str, str] = {}
    for result in run.results:
        problems += _unknown(result.place, "test_id", [result.test_id], tests, "test.json")
        if result.test_id in first:
            message = f"{first[result.test_id]} is a result of this test already."
            problems.append(Problem(f"{result.place}.test_id", message))
        first.setdefault(result.test_id, result.place)
    return problems
