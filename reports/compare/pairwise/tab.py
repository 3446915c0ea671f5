"""The tab Pairwise of Compare: whose answers are better, two at a time."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from django.urls import reverse

from evalhub.display.formatting import DASH, counted, few
from evalhub.statistics.changes.net_change import is_significant
from evalhub.statistics.ranking.pairwise_ranking import METHOD, Duel, Game, Ranked, rankings
from evalhub.statistics.rates.rate_interval import MIN_ISSUES
from reports.compare.conclusion_words import is_p
from reports.compare.pairwise.query import PairwiseField, pairwise_field
from reports.compare.query import Side
from reports.documents.document import Cell, Column, Document, Estimate, Fact, Link, Table
from reports.documents.reading import Reading
from runs.figures.run_labels import names_of_pair
from runs.laboratory.pairwise.outcome_rule import PairOutcome
from runs.laboratory.pairwise.outcomes import PairRow
from runs.laboratory.pairwise.sentences import (
    Share,
    contradictions,
    leader_sentence,
    no_conclusion,
    position_bias,
    position_bias_sentence,
    ranks_in_words,
    share_of,
)
from runs.scoring.shown_verdicts import hidden_from

PAIR, PAIRS = "pair of runs", "pairs of runs"


def agreement(outcomes: Iterable[tuple[int, PairOutcome]]) -> Share | None:
    """Return how often the judge chose as people did; None: no pair has both."""
    return share_of((issue, one.agrees) for issue, one in outcomes if one.agrees is not None)


def duel_sentence(duel: Duel, names: Mapping[Hashable, str], *, corrected_for: int = 1) -> str:
    """Say who won how often, and how sure that is."""
    found, p = duel.found, duel.holm
    first, second = (names[key] for key in (duel.first, duel.second))
    if found.rate < 0.5:
        first, second, wins, losses = second, first, found.losses, found.wins
    else:
        wins, losses = found.wins, found.losses
    basis = duel.method
    basis += f", Holm over {counted(corrected_for, PAIR, PAIRS)}" if corrected_for > 1 else ""
    clear = "significantly better" if is_significant(p) else "not enough evidence"
    verb = "wins" if found.rate != 0.5 else "wins as often as it loses:"
    said = (
        f"{first} {verb} {wins:,} of {counted(found.n, 'pair')} against {second}, loses "
        f"{losses:,} and ties {found.ties:,}: {is_p(p)} ({basis}), {clear}."
    )
    return f"{said} {duel.caveat}".rstrip() if is_significant(p) else said


def games_as_json(games: Sequence[Game]) -> list[list[object]]:
    """Return games as the inputs of kept figures."""
    return [list(one) for one in games]


FILTERS = ("judged",)
Names = Mapping[Hashable, str]


def document_of(sides: Sequence[Side], filters: Mapping[str, Any], reading: Reading) -> Document:
    """Build the report on two or more runs."""
    runs = [side.run for side in sides]
    field = pairwise_field(runs, filters.get("judged"))
    names = names_of(field)
    games = [
        Game(row.first_run, row.second_run, row.outcome.score or 0.0, row.test, row.issue)
        for row in field.scored
    ]
    inputs = games_as_json(games)
    groups = reading.computed("pairwise-1", inputs, list[Ranked], lambda: rankings(games)) or []
    return Document(
        title=f"Pairwise: {few(list(names.values()))}",
        sentences=_sentences(field, groups, names),
        facts=_facts(field),
        tables=(
            *([ranking_table(groups, names, field)] if len(runs) > 2 else []),
            duels_table(groups, names, field),
            pairs_table(field, names, hidden_from(reading.reader)),
        ),
        warnings=_warnings(field),
        labels=tuple(dict.fromkeys(_labels(field, sides))),
        more={"filters": FILTERS, "pair_actions": _actions(field, reading), "tags": []},
    )


def names_of(field: PairwiseField) -> Names:
    """Return the runs' names, made distinct."""
    if len(field.runs) == 2:
        return dict(zip([run.pk for run in field.runs], names_of_pair(*field.runs), strict=True))
    labels = [str(run) for run in field.runs]
    return {
        run.pk: str(run) if labels.count(str(run)) == 1 else f"{run} (run {run.pk})"
        for run in field.runs
    }


def _labels(field: PairwiseField, sides: Sequence[Side]) -> list[str]:
    found = [label for side in sides for label in side.labels if "judge" not in label]
    is_scripted = field.judge_run and field.judge_run.language_model.is_scripted
    return [*found, *(["scripted judge"] if is_scripted else [])]


def _sentences(field: PairwiseField, groups: Sequence[Ranked], names: Names) -> tuple[str, ...]:
    if not field.comparable:
        return ("No test was asked with the same input in two of these runs and answered in both.",)
    if not field.rows:
        return (f"None of {counted(field.comparable, 'pair')} has been judged yet.",)
    said: list[str] = []
    if not field.is_enough:
        said.append(no_conclusion(len(field.scored), field.comparable))
    elif groups and len(field.runs) == 2:
        said += [duel_sentence(duel, names) for duel in groups[0].duels]
    else:
        said += [leader_sentence(one, names) for one in groups[:1]]
        said += contradictions(groups)
    said.append(_judged_by(field))
    issues = [(row.issue, row.outcome) for row in field.rows]
    bias, agrees = position_bias(issues), agreement(issues)
    said.append(position_bias_sentence(bias))
    if agrees:
        said.append(f"Judge and humans agree on {agrees}.")
    return tuple(said)


def _judged_by(field: PairwiseField) -> str:
    judge_run = field.judge_run
    if judge_run is None:
        return "Human verdicts only."
    by = judge_run.criterion or "each test’s guidelines, criteria and reference"
    ties = "" if judge_run.ties else ", ties not allowed"
    people = (
        "Human verdicts are not counted: people were not asked this criterion."
        if judge_run.criterion
        else "Human verdicts override the judge."
    )
    return f"Judged by {judge_run.language_model} in both orders, by: {by}{ties}. {people}"


def _facts(field: PairwiseField) -> tuple[Fact, ...]:
    issues = [(row.issue, row.outcome) for row in field.rows]
    bias, agrees, unscored = position_bias(issues), agreement(issues), field.unscored
    return (
        Fact("pairs", "Outcomes", len(field.scored), "count", f"of {field.comparable:,} pairs"),
        Fact("ties", "Ties", sum(row.outcome.score == 0.5 for row in field.scored), "count"),
        Fact(
            "position_bias",
            "Position bias",
            bias and bias.hits / bias.n,
            "share",
            f"{bias.hits:,} of {bias.n:,} judged pairs" if bias else "not measured",
        ),
        Fact(
            "agreement",
            "Judge–human agreement",
            agrees and agrees.hits / agrees.n,
            "share",
            f"{agrees.hits:,} of {counted(agrees.n, 'pair')}" if agrees else "no pair has both",
        ),
        Fact("failed", "Failed", unscored.failed, "count", "a judgment failed in an order"),
        Fact("disputed", "Disputed", unscored.disputed, "count", "annotators differ"),
    )


def _warnings(field: PairwiseField) -> tuple[str, ...]:
    judge_run = field.judge_run
    if judge_run is None:
        return ()
    found = []
    if judge_run.is_live:
        found.append(f"{str(judge_run).capitalize()} is running. The figures will change.")
    if own := [
        str(run) for run in field.runs if run.language_model_id == judge_run.language_model_id
    ]:
        found.append(f"{judge_run.language_model} judges its own answers: {', '.join(own)}.")
    return tuple(found)


def _actions(field: PairwiseField, reading: Reading) -> list[Link]:
    """Return what the reader can do: choose by hand, have a model judge, open its progress."""
    found, query = [], "&".join(f"runs={run.pk}" for run in field.runs)
    if field.comparable and reading.reader.has_perm("pairwise.add_pairevaluation"):
        found.append(
            Link("Judge pairs yourself", f"{reverse('reports:compare_next_pair')}?{query}")
        )
    if field.comparable and reading.reader.has_perm("pairwise.add_pairwisejudgerun"):
        url = reverse("admin:pairwise_pairwisejudgerun_add")
        found.append(Link("Have a model judge …", f"{url}?{query}"))
    if field.judge_run:
        found.append(Link("Open judge run", field.judge_run.get_absolute_url()))
    return found


# Tables ------------------------------------------------------------------------------------------


def ranking_table(groups: Sequence[Ranked], names: Names, field: PairwiseField) -> Table:
    return Table(
        key="ranking",
        title="Ranking",
        columns=(
            *([Column("group", "Group", "count")] if len(groups) > 1 else []),
            Column("place", "Rank", "count", "By Bradley-Terry strength"),
            Column("ranks", "Possible ranks", "text", "With 95 % confidence for all at once"),
            Column("run", "Run"),
            Column("expected", "Expected wins", "estimate", "Mean chance against each other run"),
            Column("win_rate", "Win rate", "estimate", "Wins and half the ties"),
            Column("wins", "Wins", "count"),
            Column("ties", "Ties", "count"),
            Column("losses", "Losses", "count"),
        ),
        rows=[
            (
                *([number] if len(groups) > 1 else []),
                place,
                ranks_in_words(*one.ranks) if field.is_enough else None,
                names[one.player],
                Estimate(one.expected, one.found.n, one.interval),
                Estimate(one.found.rate, one.found.n, one.found.interval.interval),
                one.found.wins,
                one.found.ties,
                one.found.losses,
            )
            for number, ranked in enumerate(groups, 1)
            for place, one in enumerate(ranked.standings, 1)
        ],
        note="Strengths by the model of Bradley and Terry, a tie being half a win for each, with "
        "half a win and half a loss added so that a run that never loses stays finite. Intervals "
        "by resampling whole issues from 5 on, else tests; none where resampling shows no spread. "
        f"Ranks are set apart by {METHOD}.",
        empty="No pair has an outcome yet.",
    )


def duels_table(groups: Sequence[Ranked], names: Names, field: PairwiseField) -> Table:
    duels = [duel for ranked in groups for duel in ranked.duels]
    return Table(
        key="duels",
        title="Win rates",
        columns=(
            Column("first", "Run"),
            Column("second", "Against"),
            Column("wins", "Wins", "count"),
            Column("ties", "Ties", "count"),
            Column("losses", "Losses", "count"),
            Column("win_rate", "Win rate", "estimate", "Wins and half the ties, of n pairs"),
            Column("method", "Interval"),
            Column("p", "p", "p", "Two-sided"),
            Column("p_holm", "p (Holm)", "p", f"Corrected for {counted(len(duels), 'pair')}"),
        ),
        rows=[
            (
                names[one.first],
                names[one.second],
                one.found.wins,
                one.found.ties,
                one.found.losses,
                Estimate(one.found.rate, one.found.n, one.found.interval.interval),
                str(one.found.interval.method),
                one.p if field.is_enough else None,
                one.holm if field.is_enough else None,
            )
            for one in duels
        ],
        note=f"p: {METHOD}. Of fewer than {MIN_ISSUES} issues p is by test alone, and tests of one "
        "issue may fail together.",
        empty="No pair has an outcome yet.",
    )


def pairs_table(field: PairwiseField, names: Names, hidden: Collection[int]) -> Table:
    """List the pairs, without those on which the reader reviews an answer blind."""
    shown = [row for row in field.rows if not {row.first, row.second} & set(hidden)]
    return Table(
        key="pairs",
        title="Pairs",
        columns=(
            Column("test", "Test", "link", "Opens both answers"),
            Column("first", "First"),
            Column("second", "Second"),
            Column("better", "Better"),
            Column("judge", "Judge", "text", "In both orders"),
            Column("people", "Humans"),
            Column("note", "Note"),
        ),
        rows=[_pair(row, names) for row in shown],
        look="long",
        empty="No pair was judged yet. Judge pairs yourself, or have a model judge them.",
    )


def _pair(row: PairRow, names: Names) -> tuple[Cell, ...]:
    one = row.outcome
    first, second = names[row.first_run], names[row.second_run]
    url = reverse("reports:compare_answers", args=[row.first, row.second])
    winners = {"first": first, "second": second, "tie": "equal"}
    return (
        Link(f"test {row.test}", url),
        first,
        second,
        winners[one.choice] if one.choice else None,
        winners[one.judge.choice] if one.judge else None,
        winners[one.people] if one.people else "disputed" if one.is_disputed else None,
        _note(one),
    )


def _note(one: PairOutcome) -> str:
    if one.is_failed:
        return "judgment failed"
    if one.judge and one.judge.is_biased:
        return "position bias"
    return DASH if one.agrees is None or one.agrees else "human verdict overrides"
