"""Summaries as they look when an analyst has replied, without asking any."""

from reports.models import Exchange, ExecutiveSummary
from reports.summaries import work
from reports.summaries.requests import ask_summary
from tests.factories import make_model

REPLY = """\
<key_finding>{first} passed 1 of 2 tests (50 %), {second} both; 83 % is made up.</key_finding>
<strength>{second} is brief and says **what** it does not know.</strength>
<weakness>{first} guesses, as in <ref prompt="P_1" />, and so does MD_1.</weakness>
<pattern>Sums are wrong where numbers are large.</pattern>
<topic>Mental Arithmetic</topic><topic>honesty</topic>
{grades}
<grade model="MD_1" dimension="clarity">SCORE: 3</grade>
"""


def reply_about(exchange: Exchange) -> str:
    """A reply to what the exchange sent: grades from 2 on for the first model."""
    models = sorted(exchange.key["models"], key=lambda name: exchange.key["models"][name][0])
    refs = [f'<ref model="{name}" />' for name in models]
    grades = [
        f'<grade model="{name}" dimension="{dimension}">REASONING: Because {dimension} matters.\n'
        f"SCORE: {'N/A' if dimension == 'empathy' else score + place}</grade>"
        for place, name in enumerate(models)
        for score, dimension in ((2, "clarity"), (5, "depth"), (8, "tone"), (7, "empathy"))
    ]
    first, second = refs[0], refs[-1]
    return REPLY.format(first=first, second=second, grades="\n".join(grades))


def send(summary: ExecutiveSummary) -> Exchange:
    """The newest try as it is when it was sent."""
    exchange = summary.exchanges.latest("number")
    (question,) = work.Summarising().prepare(summary, [exchange.pk])
    assert question.draft is not None
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
