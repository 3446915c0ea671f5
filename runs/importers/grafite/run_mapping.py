"""Rows of GRAFITE's runs and of their results → records. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from evalhub.values.strict_json import excerpt
from runs.importers.grafite.issue_mapping import conversation
from runs.importers.grafite.records import ResultRecord, RunRecord, Vote
from runs.importers.grafite.stored_errors import is_error
from runs.importers.json_reader import Row, rows_of

TABLES = ("issue.json", "test.json", "settings.json", "run.json", "feedback.json")
"""Files without results of a run."""

RUN_ID = re.compile(r"\w[\w.-]*")
RUN_STATES = {
    "done": "done",
    "failed": "failed",
    "started": "cancelled",
    "in progress": "cancelled",
}
NOT_PARAMETERS = ("additional_params", "additional_judge_system_prompt")


def run(row: Row, files: Mapping[str, str]) -> RunRecord:
    name = row.text("run_id", required=True, most=100)
    state = row.text("status") or "done"
    if state not in RUN_STATES:
        row.note("status", f"expected one of {', '.join(RUN_STATES)}, not {excerpt(state)}.")
    judges = row.texts("judge_model_ids", most=100) or [row.text("judge_model_id", most=100)]
    is_cancelled = RUN_STATES.get(state) == "cancelled"
    reason = f"It was {state} when it was exported." if is_cancelled else ""
    text = row.fields.get("config")  # old runs have their settings as text
    config = {"config": text} if isinstance(text, str) else row.row("config").fields
    return RunRecord(
        place=row.place,
        source_id=name,
        creator=row.text("creator", most=150),
        model=row.text("model_id", required=True, most=100),
        provider=row.text("source", most=50) or "ollama",
        judges=[judge for judge in judges if judge],
        judge_system_prompt=str(config.get("additional_judge_system_prompt") or ""),
        params=_params(config),
        ended={"state": RUN_STATES.get(state, "done"), "reason": row.text("error_msg") or reason},
        created_at=row.moment("created_at"),
        elapsed_s=_seconds(row),
        results=[result(r) for r in _results_of(row, name, state, files)],
    )


def _results_of(row: Row, name: str, state: str, files: Mapping[str, str]) -> list[Row]:
    file = f"{name}.json"
    if name and not RUN_ID.fullmatch(name):
        row.note("run_id", f"{excerpt(name)} cannot be the name of a file with results.")
    elif file in files and file not in TABLES:
        return rows_of(files[file], file, row.problems)
    elif name and state == "done":
        row.note("run_id", f"there is no file {file} with its results.")
    return []


def _params(config: Mapping[str, Any]) -> dict[str, Any]:
    given = {k: v for k, v in config.items() if k not in NOT_PARAMETERS and v is not None}
    more = config.get("additional_params")
    return {**given, **more} if isinstance(more, dict) else given


def _seconds(row: Row) -> float | None:
    text = row.text("elapsed_time")
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(?: seconds)?", text)
    if text and not found:
        row.note("elapsed_time", f"expected a time such as 861.5 seconds, not {excerpt(text)}.")
    return float(found[1]) if found else None


def result(row: Row) -> ResultRecord:
    messages, _ = conversation(row, "prompt_text")
    prompt, answer = row.verbatim("judge_prompt"), row.verbatim("model_response")
    failed = is_error(answer)
    return ResultRecord(
        place=row.place,
        test_id=row.identifier("test_id"),
        fields={
            "messages": messages,
            "reference": row.verbatim("ground_truth"),
            "guidelines": row.verbatim("judge_guidelines"),
        },
        template=_template_of(prompt),
        judge_prompt=prompt,
        answer="" if failed else answer,
        error=answer if failed else "",
        votes=[_vote(vote) for vote in row.rows("judge_results")],
    )


def _template_of(prompt: str) -> str | None:
    """Return the built-in template with the variables of this prompt; None if there is none."""
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
        row.note("test_score", f"expected 0 or 1, not {excerpt(score)}.")
        score = 0
    return Vote(
        voter=row.text("model_id", required=True, most=100),
        is_human=is_human,
        value=None if no_vote else float(score or 0),
        justification=text,
    )
