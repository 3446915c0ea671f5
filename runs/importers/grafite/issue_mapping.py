"""Rows of GRAFITE's feedback, issues and tests → records. Pure."""

from typing import Any

from evalhub.llm.content.raw_prompt import RAW_PROMPT, raw_prompt_of
from evalhub.values.strict_json import excerpt
from runs.importers.formats.records import as_text
from runs.importers.grafite.records import Comment, FeedbackRecord, IssueRecord, TestRecord
from runs.importers.json_reader import Row

TEMPLATES = {
    "Prompt template 1": "input-output-reference-guidelines",
    "Prompt template 2": "output-reference-guidelines",
    "Prompt template 3": "input-output-guidelines",
}
"""Prefixes of its judge types → families of our built-in templates."""

NO_JUDGE = ("", "Custom script or program")
RATINGS = {"THUMBS_UP": "up", "THUMBS_DOWN": "down", "": "none"}


# Feedback and issues -----------------------------------------------------------------------------


def feedback(row: Row) -> FeedbackRecord:
    raw = row.row("raw_feedback")
    source_id, rating = row.identifier("_id"), raw.text("user_rating")
    if rating not in RATINGS:
        raw.note("user_rating", f"expected THUMBS_UP, THUMBS_DOWN or null, not {excerpt(rating)}.")
    more = ("tags", "recommended_fix", "revision")
    fields = {
        "source": row.text("source", most=100),
        "model": row.text("model_id", most=200),
        "prompt": as_text(raw.fields.get("model_input")),
        "answer": as_text(raw.fields.get("model_output")),
        "rating": RATINGS.get(rating, "none"),
        "comment": raw.text("user_comment"),
        "note": "\n".join(_triage_notes(row)),
        "raw": {**raw.fields, **{key: row.fields[key] for key in more if row.fields.get(key)}},
    }
    return FeedbackRecord(source_id, fields)


def _triage_notes(row: Row) -> list[str]:
    """Return comments of triagers and others, with their authors."""
    comments = [*row.row("triage").rows("comments"), *row.rows("comments")]
    notes = [(c.text("author"), c.text("comment") or c.text("text")) for c in comments]
    return [f"{author}: {text}" if author else text for author, text in notes if text]


def issue(row: Row) -> IssueRecord:
    triage = row.row("triage")
    is_resolved = triage.flag("resolved") and row.flag("active", True)
    return IssueRecord(
        place=row.place,
        source_id=row.identifier("_id"),
        fields={
            "title": row.text("title", required=True, most=200),
            "description": row.text("description"),
            "state": "resolved" if is_resolved else _state(row, triage),
            "resolution_note": triage.text("note"),
        },
        author=next(iter(row.texts("authors", most=150)), ""),
        tags=row.texts("tags", most=100),
        resolution_labels=triage.texts("resolution", most=100),
        sources=[_source(source) for source in row.rows("sources")],
        comments=[_comment(comment) for comment in row.rows("comments")],
        feedback_ids=row.identifiers("feedback_ids"),
        test_ids=row.identifiers("test_ids"),
    )


def _state(row: Row, triage: Row) -> str:
    """Return the state of these switches, in GRAFITE's order of precedence."""
    if not row.flag("active", True):
        return "deprecated"
    if triage.flag("approved"):
        return "approved"
    return "in_review" if triage.flag("ready_for_review") else "draft"


def _source(row: Row) -> tuple[str, str]:
    kind = row.text("type") or "general"
    if kind not in ("general", "github"):
        row.note("type", f"expected general or github, not {excerpt(kind)}.")
    return kind, row.text("value", required=True, most=500)


def _comment(row: Row) -> Comment:
    return Comment(
        row.text("text", required=True), row.text("author", most=150), row.moment("created_time")
    )


# Tests -------------------------------------------------------------------------------------------


def test(row: Row) -> TestRecord:
    validator = next(iter(row.rows("validators")), None)
    judge = validator.row("parameters") if validator else Row({}, row.place, row.problems)
    messages, ending = conversation(row, "prompt")
    reference, by = row.verbatim("desired_output"), row.text("desired_output_source") or "unknown"
    if by not in ("human", "model", "unknown"):
        row.note("desired_output_source", f"expected human, model or null, not {excerpt(by)}.")
    flagged = row.verbatim("sample_output") or ending
    # The tools of a freeform prompt are a copy of what its text holds.
    tools = [] if raw_prompt_of(messages) is not None else row.rows("tools")
    return TestRecord(
        place=row.place,
        source_id=row.identifier("_id"),
        issue_id=row.identifier("issue_id"),
        fields={
            "messages": messages,
            "reference": reference,
            "guidelines": judge.verbatim("judge_guidelines"),
            "tools": [dict(tool.fields) for tool in tools],
            "flagged_answer": "" if flagged.strip() == reference.strip() else flagged,
            "reference_by": by,
            "state": _state(row, row.row("triage")),
        },
        template=_template(judge),
        author=row.text("author", most=150),
        comments=[_comment(comment) for comment in row.rows("comments")],
        tags=row.texts("flags", most=100),
    )


test.__test__ = False  # type: ignore[attr-defined]


def _template(judge: Row) -> str | None:
    name = judge.text("judge_type")
    if name in NO_JUDGE:
        return None
    for start, family in TEMPLATES.items():
        if name == start or name.startswith(f"{start}:"):
            return family
    judge.note("judge_type", f"expected one of {', '.join(TEMPLATES)}, not {excerpt(name)}.")
    return None


def conversation(row: Row, prompt: str) -> tuple[list[dict[str, Any]], str]:
    """Return the conversation, or the freeform prompt as a raw prompt, and its final answer.

    A chat is stored with the answer that the author saw: left in, nothing would be asked.
    """
    turns = row.rows("messages")
    messages = [_message(turn) for turn in turns]
    if not messages:
        text = row.verbatim(prompt)
        if not text.strip():
            row.note("messages", f"has neither messages nor a {prompt}.")
        return [{"role": RAW_PROMPT, "content": text}], ""
    last = messages[-1]
    if len(messages) > 1 and last["role"] == "assistant" and last.get("content"):
        return messages[:-1], str(last["content"])
    if last["role"] not in ("user", "tool"):
        turns[-1].note("role", f"has no turn to answer: {excerpt(last['role'])} is last.")
    return messages, ""


def _message(row: Row) -> dict[str, Any]:
    role = row.text("role")
    if role not in ("system", "user", "assistant", "tool"):
        row.note("role", f"expected system, user, assistant or tool, not {excerpt(role)}.")
    calls = row.fields.get("tool_calls")
    content = row.fields.get("content")
    has_text = isinstance(content, str) and content.strip()
    if not has_text and not (role == "assistant" and calls):
        row.note("content", f"expected text, not {excerpt(content)}.")
    more = ("name", "tool_call_id", "tool_calls")
    return {
        "role": role,
        "content": content if has_text else None,
        **{key: row.fields[key] for key in more if row.fields.get(key)},
    }
