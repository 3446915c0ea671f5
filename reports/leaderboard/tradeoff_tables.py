"""Score against cost and latency: which model to take."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalhub.display.charts import Figure
from evalhub.display.formatting import listed, seconds, usd
from evalhub.statistics.changes.net_change import LEVEL
from evalhub.statistics.interval import Interval
from reports.documents.document import Cell, Column, Estimate, Table
from reports.documents.model_lines import LineStyle, line_style
from reports.leaderboard.certainty_rule import BoardCertainty, Certainty
from reports.leaderboard.figure import Mark, score_against_price
from reports.leaderboard.ranking_tables import Ranking
from reports.leaderboard.tradeoff_rule import Spot, Usage, added, frontier
from runs.figures.run_tallies import OUTCOMES, summed
from runs.models import Outcome

ANSWERED = tuple(outcome for outcome in OUTCOMES if outcome != Outcome.ERROR)
SUMS = ("answers_cost", "answers_with_cost", "sum_latency", "with_latency", *ANSWERED)


def usage_of(runs: Collection[int]) -> dict[int, Usage]:
    """Add up the answers of each of these complete runs."""
    return {
        run: Usage(sum(n), float(cost or 0), with_cost, latency or 0, with_latency)
        for run, cost, with_cost, latency, with_latency, *n in summed(runs, ("run_id",), SUMS)
    }


@dataclass(frozen=True)
class Tradeoff:
    """Ranked models, best first, with what their answers cost and how long they took."""

    ranking: Ranking
    usage: Mapping[str, Usage]

    @property
    def costs(self) -> list[Spot]:
        return [Spot(*one, self.usage[one[0]].usd_per_thousand) for one in self._scores]

    @property
    def latencies(self) -> list[Spot]:
        return [Spot(*one, self.usage[one[0]].mean_latency_ms) for one in self._scores]

    @property
    def _scores(self) -> list[tuple[str, float]]:
        return [(one.model, one.mean) for one in self.ranking.board.ranked]


def tradeoff_of(ranking: Ranking) -> Tradeoff:
    """Read cost and latency of the runs that count; one query."""
    models = [one.model for one in ranking.board.ranked]
    by_run = usage_of([run for model in models for run in ranking.runs[model]])
    sums = {
        model: added(by_run[run] for run in ranking.runs[model] if run in by_run)
        for model in models
    }
    return Tradeoff(ranking, sums)


def choice(found: Tradeoff, sure: BoardCertainty) -> Iterator[str]:
    """Yield which models are not told apart from the best, and which of them takes least."""
    ranked, names = found.ranking.board.ranked, found.ranking.names
    best = ranked[0].model if ranked else ""
    undecided = {
        pair.seen_from(best).second
        for pair in sure.pairs
        if best in (pair.first, pair.second) and pair.holm is not None
        if pair.holm > LEVEL
    }
    if not undecided:
        return
    left = [one.model for one in ranked if one.model == best or one.model in undecided]
    least = [
        f"{names[spot.model]} {does} ({words(spot.price)})"
        for spots, does, words in (
            (found.costs, "costs least", _per_thousand),
            (found.latencies, "answers fastest", _on_average),
        )
        if (spot := _least([spot for spot in spots if spot.model in left])) is not None
    ]
    chosen = f": {listed(least)}" if least else ""
    yield f"The data does not decide between {listed([names[model] for model in left])}{chosen}."


def _least(spots: Sequence[Spot]) -> Spot | None:
    """Return the one with the lowest price; None unless that of each is known."""
    known = [spot for spot in spots if spot.price is not None]
    return min(known, key=lambda spot: spot.price or 0) if len(known) == len(spots) else None


def _per_thousand(price: float | None) -> str:
    return f"{usd(price)} per 1,000 answers"


def _on_average(price: float | None) -> str:
    return f"{seconds(None if price is None else round(price))} on average"


COLUMNS = (
    Column("name", "Model"),
    Column("mean", "Mean score", "estimate"),
    Column("usd_per_thousand", "Cost of 1,000 answers", "usd", "Judges not counted"),
    Column("with_cost", "Known for", "count"),
    Column("latency_ms", "Mean latency", "ms"),
    Column("with_latency", "Known for", "count"),
    Column("answers", "Answers", "count"),
    Column("frontier", "On the frontier of"),
)
NOTE = (
    "On a frontier no other model has a higher mean at the same price or less. These are measured "
    "values: whether a higher mean is significant, the ranks say. A model is drawn where the price "
    "of all its answers is known."
)
EMPTY = "No model is ranked yet."


def tradeoff_tables(found: Tradeoff, sure: Mapping[str, Certainty]) -> tuple[Table, ...]:
    """Return what each model takes, with its score drawn against cost and against latency."""
    on_cost, on_latency = frontier(found.costs), frontier(found.latencies)
    rows = list(_rows(found, sure, {"cost": on_cost, "latency": on_latency}))
    cost_axis, latency_axis = "Cost of 1,000 answers (USD)", "Mean latency (ms)"
    return (
        Table(
            key="cost",
            title="Score and cost",
            columns=COLUMNS,
            rows=rows,
            note=NOTE,
            empty=EMPTY,
            draw=_draw(found, sure, found.costs, on_cost, cost_axis, _per_thousand),
            describes="The mean score of each model against the cost of its answers",
        ),
        Table(
            key="latency",
            title="Score and latency",
            columns=(COLUMNS[0], COLUMNS[4]),
            rows=[(row[0], row[4]) for row in rows],
            empty=EMPTY,
            draw=_draw(found, sure, found.latencies, on_latency, latency_axis, _on_average),
            describes="The mean score of each model against the latency of an answer",
        ),
    )


def _rows(
    found: Tradeoff, sure: Mapping[str, Certainty], frontiers: Mapping[str, set[str]]
) -> Iterator[tuple[Cell, ...]]:
    for one in found.ranking.board.ranked:
        usage = found.usage[one.model]
        on = [word for word, models in frontiers.items() if one.model in models]
        yield (
            found.ranking.names[one.model],
            Estimate(one.mean, len(one.suites), _interval(one.model, sure)),
            usage.usd_per_thousand,
            usage.with_cost,
            usage.mean_latency_ms,
            usage.with_latency,
            usage.answers,
            ", ".join(on) or None,
        )


def _draw(
    found: Tradeoff,
    sure: Mapping[str, Certainty],
    spots: Sequence[Spot],
    best: set[str],
    title: str,
    words: Callable[[float | None], str],
) -> Callable[[], Figure | None]:
    marks = [
        Mark(
            name=found.ranking.names[spot.model],
            look=_look(found.ranking, spot.model),
            score=spot.score,
            interval=_interval(spot.model, sure),
            price=spot.price,
            price_words=words(spot.price),
            is_best=spot.model in best,
        )
        for spot in spots
        if spot.price is not None
    ]
    return lambda: score_against_price(marks, title) if marks else None


def _interval(model: str, sure: Mapping[str, Certainty]) -> Interval | None:
    return sure[model].interval if model in sure else None


def _look(ranking: Ranking, model: str) -> LineStyle:
    """Return the style that the model, or one of the family, has on every page."""
    return line_style(ranking.field.entrants[ranking.runs[model][0]].model_id)
