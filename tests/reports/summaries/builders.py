"""Summaries as they look when an analyst has replied, without asking any."""

import json

from reports.models import Exchange, ExecutiveSummary
from reports.summaries import work
from reports.summaries.analyst.key import FigureTable, Key, Place
from reports.summaries.draft import Draft
from reports.summaries.requests import ask_summary
from tests.factories import make_model


def reply_about(exchange: Exchange) -> str:
    """A reply to what the exchange sent: grades from 2 on for the first model."""
    models = sorted(exchange.key["models"], key=lambda name: exchange.key["models"][name][0])
    key, table = Key.from_json(exchange.key), FigureTable.from_json(exchange.figures)
    first, second = models[0], models[-1]
    rows = {variant.model: row for row, variant in enumerate(key.variants)}
    cells = {model: table.cells[Place(rows[model], "G_1")] for model in models}
    shares = {model: 100 * (cell.share or 0) for model, cell in cells.items()}
    cell = {"group": "G_1", "other_model": None, "other_group": None}
    passed = {"id": "c1", "model": first, "measure": "passed", "value": cells[first].passed, **cell}
    rate = {"id": "c2", "model": second, "measure": "pass_rate", "value": 83, **cell}
    less = {"id": "c1", "model": first, "measure": "difference", **cell, "other_model": second}
    less["value"] = round(shares[first] - shares[second], 1)
    texts = {
        "findings": [
            ("Sums go wrong for {c1}.", [passed]),
            ("{c1} where sums are asked for.", [less]),
            ("Nothing is asked back by {c2}, which is right 83 % of the time.", [rate]),
        ],
        "strengths": [(f"<ref model='{second}' /> says **what** it does not know.", [])],
        "weaknesses": [
            (f"<ref model='{first}' /> guesses, as in <ref prompt='P_1' />; so does MD_1.", [])
        ],
        "patterns": [("Sums are wrong where numbers are large.", [])],
    }
    grades = [
        {
            "model": name,
            "dimension": dimension,
            "reasoning": f"Because {dimension} matters.",
            "score": None if dimension == "empathy" else score + place,
        }
        for place, name in enumerate(models)
        for score, dimension in ((2, "clarity"), (5, "depth"), (8, "tone"), (7, "empathy"))
    ]
    unknown = {"model": "MD_1", "dimension": "clarity", "reasoning": "", "score": 3}
    statements = {
        kind: [{"text": text, "claims": claims} for text, claims in some]
        for kind, some in texts.items()
    }
    topics = ["Mental Arithmetic", "honesty"]
    return json.dumps({**statements, "topics": topics, "grades": [*grades, unknown]})


def send(summary: ExecutiveSummary) -> Exchange:
    """The newest try as it is when it was sent."""
    exchange = summary.exchanges.latest("number")
    (question,) = work.Summarising().prepare(summary, [exchange.pk])
    assert isinstance(question.draft, Draft)
    work.keep_sent(exchange, question.draft)
    return exchange


def make_summary(runs, *, reply=None, error_kind="", **fields) -> ExecutiveSummary:
    """A summary whose analyst has replied; with an error kind, in vain."""
    named = {"name": fields.pop("name")} if "name" in fields else {}
    summary = ask_summary(runs, analyst=make_model(**named), by=fields.pop("by", None))
    exchange = send(summary)
    exchange.received = reply_about(exchange) if reply is None else reply
    exchange.state = "error" if error_kind else "done"
    exchange.error_kind, exchange.error_message = error_kind, error_kind and f"It is {error_kind}."
    exchange.save()
    if not error_kind:
        work.make_current(exchange)
    ExecutiveSummary.objects.filter(pk=summary.pk).update(state="done", **fields)
    summary.refresh_from_db()
    return summary
