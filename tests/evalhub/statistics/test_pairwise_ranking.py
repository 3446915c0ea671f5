import numpy as np
import pytest

from evalhub.statistics.changes.net_change import net_change
from evalhub.statistics.ranking.pairwise_ranking import Game, rankings, win_rate
from evalhub.statistics.rates.rate_interval import Method


def games(first, second, wins, ties, losses, *, per_issue=1, start=0):
    """Games of two players, each of a test of its own."""
    scores = [1.0] * wins + [0.5] * ties + [0.0] * losses
    return [
        Game(first, second, score, start + n, (start + n) // per_issue)
        for n, score in enumerate(scores)
    ]


def standings(ranked):
    return {one.player: one for one in ranked.standings}


def test_a_win_rate_counts_ties_as_half_and_has_the_interval_of_rates():
    found = win_rate(games("a", "b", 6, 4, 2), "a")
    assert found is not None
    assert (found.wins, found.ties, found.losses, found.rate) == (6, 4, 2, 8 / 12)
    assert found.interval.method == Method.BY_ISSUE
    assert found.interval.interval.low < 8 / 12 < found.interval.interval.high
    seen_from_b = win_rate(games("a", "b", 6, 4, 2), "b")
    assert seen_from_b is not None
    assert seen_from_b.rate == pytest.approx(4 / 12)
    assert win_rate([], "a") is None


def test_the_p_of_a_duel_is_that_of_the_sign_test_without_ties(scipy_stats):
    (ranked,) = rankings(games("a", "b", 14, 5, 3))
    wins = scipy_stats.binom(17, 0.5)
    assert ranked.duels[0].p == pytest.approx(2 * (wins.sf(14) + wins.pmf(14) / 2))


def test_a_duel_and_a_change_have_one_p():
    (ranked,) = rankings(games("a", "b", 20, 4, 9, per_issue=3))
    won = [1.0] * 20 + [0.0] * 4 + [-1.0] * 9
    change = net_change(won, [n // 3 for n in range(33)])
    assert change is not None
    assert (ranked.duels[0].p, ranked.duels[0].accounts_for_issues) == (change.p, True)


def test_tests_of_one_issue_are_little_evidence():
    (ranked,) = rankings(games("a", "b", 20, 0, 0, per_issue=4))
    assert ranked.duels[0].p == pytest.approx(1 / 2**5)


def test_only_significant_duels_set_ranks_apart():
    (ranked,) = rankings(
        [
            *games("a", "b", 15, 0, 1),
            *games("b", "c", 9, 0, 7, start=100),
            *games("a", "c", 16, 0, 0, start=200),
        ]
    )
    found = standings(ranked)
    assert found["a"].ranks == (1, 1)
    assert found["b"].ranks == found["c"].ranks == (2, 3)


def test_one_who_never_loses_has_a_finite_strength_and_an_honest_interval():
    (ranked,) = rankings(games("a", "b", 12, 0, 0))
    best = ranked.standings[0]
    assert best.player == "a"
    assert 0.5 < best.expected < 1
    assert best.interval is None  # each resample is the same: that is no certainty
    assert best.found.interval.interval.low < 0.9


def test_players_who_never_met_are_ranked_apart():
    found = rankings(
        [*games("a", "b", 8, 0, 1), *games("c", "d", 8, 0, 1), *games("a", "e", 4, 2, 4)]
    )
    assert [{one.player for one in ranked.standings} for ranked in found] == [
        {"a", "b", "e"},
        {"c", "d"},
    ]
    assert standings(found[1])["c"].ranks == (1, 1)


def test_a_cycle_sets_no_rank_against_the_strengths():
    cycle = [("a", "b", 20), ("b", "c", 20), ("c", "a", 19)]
    (ranked,) = rankings(
        [
            game
            for n, (first, second, wins) in enumerate(cycle)
            for game in games(first, second, wins, 0, 20 - wins, start=100 * n)
        ]
    )
    assert ranked.contradicting >= 1
    for place, one in enumerate(ranked.standings, 1):
        assert one.ranks.best <= place <= one.ranks.worst


def test_tests_of_one_issue_are_resampled_together():
    rng = np.random.default_rng(1)
    together = [
        Game("a", "b", float(wins), 10 * issue + n, issue)
        for issue, wins in enumerate(rng.random(12) < 0.7)
        for n in range(8)
    ]
    apart = [game._replace(issue=game.test) for game in together]
    (wide,), (narrow,) = rankings(together), rankings(apart)
    assert wide.is_by_issue
    widths = [one.standings[0].interval for one in (wide, narrow)]
    assert widths[0].high - widths[0].low > 1.5 * (widths[1].high - widths[1].low)


def test_the_same_games_give_the_same_ranking():
    some = games("a", "b", 5, 3, 4)
    assert rankings(some) == rankings(some)


def test_no_games_give_no_ranking():
    assert rankings([]) == []


@pytest.mark.parametrize("game", [Game("a", "a", 1, 1, 1), Game("a", "b", 0.7, 1, 1)])
def test_an_impossible_game_is_refused(game):
    with pytest.raises(ValueError, match="expected"):
        rankings([game])
