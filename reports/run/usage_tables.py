"""Tables of a run's use of providers: tokens, cost, latency and errors."""

from collections.abc import Sequence
from decimal import Decimal

from evalhub.display.formatting import count, counted, words
from evalhub.work.cost_total import spent_by
from evalhub.work.models import Batch
from reports.documents.document import Cell, Column, Link, Linked, Table
from reports.documents.links import calls_url, row_url
from reports.run.distribution_query import Distribution
from reports.run.figure import binned_costs, binned_times
from reports.run.query import RunReport
from reports.run.result_links import ResultLinks
from runs.models import Outcome

ADVICE: dict[str, str] = {
    "rate_limited": "Lower the model's concurrency or rate limit.",
    "timed_out": "Raise the model's timeout, or ask for shorter answers.",
    "refused_key": "Check the key in the model's environment variable.",
    "missing_key": "Set the model's environment variable and restart the workers.",
    "not_found": "Check the model's name and base URL.",
    "bad_request": "The provider refused the request: read the message in the call log.",
    "context_too_long": "The request exceeds the model's context window or its limit of tokens.",
    "content_filtered": "The provider's policy refused the request: read its words in the log.",
    "unreachable": "Check that the endpoint is up and its base URL correct, then retry.",
    "empty_answer": "The model returned no text: check its token limit.",
    "broken_off": "The reply ended early: read why, raise max_tokens if it was cut off, or retry.",
    "server_error": "The provider failed: retry later.",
    "forbidden_address": "Allow the address in EVALHUB_ALLOWED_ADDRESSES, or change the base URL.",
    "images_not_taken": "Choose a model that takes images, or leave these tests out.",
    "unreadable": "The judge's reply could not be parsed.",
    "unreadable_reply": "The response is not that of a language model: check the base URL.",
    "cannot_tell": "The answer does not show it: have an annotator decide.",
    "check_error": "The check failed: review its arguments.",
    "cannot_run": "This check runs foreign code or uses the network, so it is never run.",
    "echo": "The judge repeated a verdict from the answer: it is not counted.",
    "reply_lost": "A worker died during the call, which may be billed.",
    "worker_died": "A worker died: read its log before you retry.",
    "no_answer": "There was no answer to judge.",
    "cancelled": "The run was cancelled during the call.",
    "nothing_asked": "The conversation ends without a question: edit the test's messages.",
    "unaskable": "The judge prompt could not be rendered: check the template and the test.",
    "internal": "Internal error of EvalHub: read the worker's log, then retry.",
    "imported_error": "The error was imported with the result.",
}
"""What to do about a kind of error."""


MODEL_PAGE = "admin:evalhub_languagemodel_change"


def usage(report: RunReport) -> Table:
    """All that the run spent: its answers and each judge run, with tries, repairs and failures."""
    run, usage = report.run, report.usage
    columns = (
        Column("role", "Role"),
        Column("cost_usd", "Cost", "usd"),
        Column("unpriced", "Calls of unknown cost", "count"),
        Column("input_tokens", "Input tokens", "count"),
        Column("output_tokens", "Output tokens", "count"),
        Column("with_tokens", "Known for", "count"),
        Column("n", "Of", "count", "Answers of the model under test, scores of the judges"),
    )
    tokens = (usage.input_tokens, usage.output_tokens, usage.with_tokens, usage.answered)
    none = (None, None, None, None)
    if run.has_imported_answers:  # they were paid elsewhere
        rows: list[tuple[Cell, ...]] = [("Imported answers", usage.cost_usd, None, *tokens)]
    else:
        rows = [("Model under test", *_spent([run]), *tokens)]
    if panel := report.panel:
        assert report.current
        rows.append(("Judges", *_spent([report.current]), *none[1:], panel.assessed))
    others = [one for one in report.judge_runs if one != report.current]
    if others:
        rows.append(("Other judge runs", *_spent(others), *none))
    parts = [run, *report.judge_runs]
    if len(rows) > 1:
        rows.append(("Spent", *_spent(parts), *none))
    hint = "Add prices to the models; they apply from the next run on. "
    hint = hint if spent_by(parts).unpriced else ""
    note = f"{hint}Cost is of all calls, those without an answer too."
    return Table("usage", "Tokens and cost", columns, rows, note=note)


def _spent(parts: Sequence[Batch]) -> tuple[Cell, Cell]:
    """Return the cost, and the calls of unknown cost with a link to them."""
    usd, unpriced = spent_by(parts)
    return usd, unpriced and Linked(unpriced, calls_url(parts, cost_usd__isnull=1))


def percentiles(latency: Distribution | None, cost: Distribution | None) -> Table:
    times = dict(latency.percentiles) if latency else {}
    costs = dict(cost.percentiles) if cost else {}
    columns = (
        Column("share", "Share of answers", "share"),
        Column("latency_ms", "Latency up to", "ms"),
        Column("cost_usd", "Cost up to", "usd"),
    )
    rows = [(share, times.get(share), costs.get(share)) for share in sorted({*times, *costs})]
    parts = [f"Latency of {counted(latency.n, 'answer')}."] if latency else []
    if cost:
        free = f", {count(cost.zeros)} of them free" if cost.zeros else ""
        parts.append(f"Cost of {counted(cost.n, 'answer')}{free}.")
    note, empty = " ".join(parts), "Neither latency nor cost was measured."
    return Table("percentiles", "Percentiles", columns, rows, note=note, empty=empty)


def latency(found: Distribution | None) -> Table:
    bars = found.bars if found else ()
    return Table(
        "latency",
        "Latency",
        (
            Column("from_ms", "From", "ms"),
            Column("to_ms", "To", "ms"),
            Column("n", "Answers", "count"),
        ),
        bars,
        empty="No latency was measured.",
        draw=lambda: binned_times(bars) if bars else None,
        look="folded",
        describes="A histogram of answer times",
    )


def costs(found: Distribution | None) -> Table:
    paid = found.bars if found else ()
    free = [(Decimal(0), Decimal(0), found.zeros)] if found and found.zeros else []
    return Table(
        "cost",
        "Cost per answer",
        (
            Column("from_usd", "From", "usd"),
            Column("to_usd", "To", "usd"),
            Column("n", "Answers", "count"),
        ),
        [*free, *paid],
        empty="No cost is known. Add prices to the model; they apply from the next run on.",
        draw=lambda: binned_costs(found.zeros, paid) if found else None,
        look="folded",
        describes="A histogram of the cost of answers",
    )


def refused_parameters(report: RunReport) -> Table:
    """What endpoints refused, with links to the model's page and to the calls made without it."""
    parts = [report.run, *report.judge_runs]
    rows: list[tuple[Cell, ...]] = [
        (
            Link(one.model, row_url(MODEL_PAGE, one.model_id)),
            one.role,
            one.name,
            str(one.value),
            Linked(
                one.calls,
                calls_url(
                    parts,
                    refused_params__isnull=0,
                    role__exact=one.role,
                    language_model__id__exact=one.model_id,
                ),
            ),
        )
        for one in report.refused
    ]
    columns = (
        Column("model", "Model", "link"),
        Column("role", "Role"),
        Column("parameter", "Parameter"),
        Column("value", "Value wanted"),
        Column("n", "Calls without it", "count"),
    )
    return Table("refused_parameters", "Refused parameters", columns, rows)


def errors(report: RunReport, links: ResultLinks) -> Table:
    url = links.results(outcomes=(Outcome.ERROR.value,))
    parts = [report.run, *report.judge_runs]
    rows: list[tuple[Cell, ...]] = [
        (words(kind) or "unknown", Link("results without an answer", url), n, ADVICE.get(kind, ""))
        for kind, n in report.errors
    ]
    rows += [
        (
            words(kind),
            Link(
                f"{role} calls",
                calls_url(parts, role__exact=role, error_kind=kind),
                "with retries",
            ),
            n,
            ADVICE.get(kind, ""),
        )
        for role, kind, n in report.failures
    ]
    columns = (
        Column("kind", "Error"),
        Column("of", "Where", "link"),
        Column("n", "Count", "count"),
        Column("advice", "What to do"),
    )
    return Table("errors", "Errors", columns, rows, empty="No call failed.")
