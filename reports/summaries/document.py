"""An executive summary as a report document, for its files."""

from reports.documents.document import Cell, Column, Document, Fact, Table
from reports.summaries.analyst.restore import ClaimLine
from reports.summaries.query import View


def document_of(view: View) -> Document:
    """Return the content of the page, names restored."""
    summary = view.summary
    caveats = {
        f"State: {view.state.word}. {view.state.why}": view.state.word != "done",
        "A quoted test has been sealed since: texts are withheld.": view.is_withheld,
        f"{view.unsupported} sentences are not supported by the figures.": view.unsupported > 1,
        "1 sentence is not supported by the figures.": view.unsupported == 1,
    }
    return Document(
        title=f"{summary.analyst_name} on {view.title}",
        sentences=tuple(view.notes),
        facts=(
            Fact("runs", "Runs", len(view.runs), "count"),
            Fact("analyst", "Analyst", summary.analyst_name),
            Fact("topics", "Topics", tuple(summary.tags) or None, note="automatic"),
            Fact(
                "claims", "Claims", len(view.claims), "count", note="figures written from the table"
            ),
            Fact("unsupported", "Unsupported sentences", view.unsupported, "count"),
            Fact("cost", "Cost", summary.spent.usd, "usd"),
            Fact("requested_at", "Requested", summary.created_at, "date"),
        ),
        tables=(_texts(view), claims_table(view), _grades(view), _reasons(view), _masked(view)),
        warnings=tuple(sentence.strip() for sentence, holds in caveats.items() if holds),
        labels=tuple(view.labels),
        runs=tuple(run.pk for run in view.runs),
    )


def _texts(view: View) -> Table:
    return Table(
        key="texts",
        title="Content",
        columns=(
            Column("kind", "Kind"),
            Column("text", "Text"),
            Column("unsupported", "Unsupported sentences", "count"),
        ),
        rows=[(text.title, text.text, text.unsupported) for text in view.texts],
        empty="No content yet.",
    )


def claims_table(view: View) -> Table:
    return Table(
        key="claims",
        title="Claims",
        columns=(
            Column("model", "Model"),
            Column("group", "Tests"),
            Column("measure", "Measure"),
            Column("minus", "Minus"),
            Column("figure", "Figure"),
            Column("stated", "Analyst wrote", "number"),
            Column("n", "n", "count", "Scored results; tests that both models have scored"),
            Column("interval", "95 % interval"),
            Column("p", "p", "p", "Corrected for all differences that could be claimed"),
            Column("method", "Method"),
            Column("problem", "Problem"),
        ),
        rows=[_claim(claim) for claim in view.claims],
        empty="No claims.",
    )


def _claim(claim: ClaimLine) -> tuple[Cell, ...]:
    is_between_groups = claim.other_group != claim.group
    minus = claim.other_group if is_between_groups else claim.other_model
    return (
        claim.model,
        claim.group,
        claim.measure,
        minus or None,
        claim.figure_text or None,
        claim.stated,
        claim.n,
        claim.interval_text or None,
        claim.p,
        claim.method or None,
        claim.problem or None,
    )


def _grades(view: View) -> Table:
    dimensions = [Column(one.key, one.title, "number", one.asks) for one in view.dimensions]
    return Table(
        key="grades",
        title="Grades, 1 to 10",
        columns=(
            Column("model", "Model"),
            Column("pass_rate", "Pass rate", "rate"),
            Column("mean", "Mean", "number"),
            *dimensions,
        ),
        rows=[
            (row.name, row.rate, row.mean, *(cell.grade for cell in row.cells))
            for row in view.grades
        ],
        empty="No grades.",
    )


def _reasons(view: View) -> Table:
    return Table(
        key="reasons",
        title="Reasons for the grades",
        columns=(
            Column("model", "Model"),
            Column("dimension", "Dimension"),
            Column("grade", "Grade", "number"),
            Column("reasoning", "Reasoning"),
        ),
        rows=[
            (one["model_name"], one["dimension"], one["grade"], one["reasoning"])
            for one in view.given_grades
        ],
        empty="No reasons.",
    )


def _masked(view: View) -> Table:
    return Table(
        key="masked",
        title="Names removed from texts",
        columns=(Column("name", "Name"), Column("times", "Times", "count")),
        rows=list(view.masked.items()),
        empty="No text named a model, its developer or its family.",
    )
