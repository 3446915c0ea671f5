"""Strengths beside those of statsmodels and scipy, which know nothing of ours."""

import numpy as np
import pytest

from evalhub.statistics.ranking.bradley_terry import groups_of, log_strengths, win_chances


def table(seed: int, k: int, *, most: int = 12, missing: float = 0.0) -> np.ndarray:
    """Random wins with ties as halves; a share of the pairs never met."""
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, most, (k, k)).astype(float)
    ties = rng.integers(0, most, (k, k)) / 2
    wins += ties + ties.T
    met = np.triu(rng.random((k, k)) >= missing, 1)
    return np.where(met | met.T, wins, 0.0)


def by_logistic_regression(glm, wins: np.ndarray) -> np.ndarray:
    """A binomial GLM: one row for each two players, and one for each against the further one."""
    k = len(wins)
    rows, counts = [], []
    for i in range(k):
        for j in range(i + 1, k):
            if wins[i, j] + wins[j, i]:
                rows.append(np.eye(k)[i] - np.eye(k)[j])
                counts.append([wins[i, j], wins[j, i]])
        rows.append(np.eye(k)[i])
        counts.append([0.5, 0.5])
    model = glm.GLM(np.array(counts), np.array(rows), family=glm.families.Binomial())
    return np.asarray(model.fit(maxiter=200, tol=1e-14).params)


def by_optimisation(optimize, wins: np.ndarray) -> np.ndarray:
    def loss(found: np.ndarray) -> float:
        chances = 1 / (1 + np.exp(found[None, :] - found[:, None]))
        alone = 1 / (1 + np.exp(-found))
        return float(
            -(wins * np.log(chances)).sum() - 0.5 * (np.log(alone) + np.log(1 - alone)).sum()
        )

    return np.asarray(optimize.minimize(loss, np.zeros(len(wins)), tol=1e-12).x)


@pytest.mark.parametrize("seed", range(12))
def test_strengths_are_those_of_logistic_regression(seed, glm):
    wins = table(seed, k=2 + seed % 6, missing=0.3 * (seed % 3))
    assert log_strengths(wins) == pytest.approx(by_logistic_regression(glm, wins), abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_a_player_who_never_loses_is_strong_and_finite(seed, glm, optimize):
    wins = table(seed, k=4, most=400)
    wins[:, 2] = 0

    found = log_strengths(wins)

    assert found.argmax() == 2
    assert np.isfinite(found).all()
    assert found == pytest.approx(by_optimisation(optimize, wins), abs=1e-3)
    assert found == pytest.approx(by_logistic_regression(glm, wins), abs=1e-6)


def test_many_tables_are_solved_as_each_alone():
    tables = np.stack([table(seed, k=5, missing=0.4) for seed in range(20)])
    alone = [log_strengths(one) for one in tables]
    assert log_strengths(tables) == pytest.approx(np.array(alone), abs=1e-8)


def test_more_wins_never_make_a_player_weaker():
    wins = table(3, k=4)
    before = log_strengths(wins)
    wins[1, 3] += 5
    assert log_strengths(wins)[1] > before[1]


def test_equal_players_are_equally_strong_and_one_without_games_is_at_0():
    wins = np.array([[0, 3, 0], [3, 0, 0], [0, 0, 0]])
    assert log_strengths(wins) == pytest.approx([0, 0, 0], abs=1e-9)


def test_chances_of_both_add_up_to_1():
    chances = win_chances(np.array([2.0, -800.0, 900.0]))
    assert chances + chances.T == pytest.approx(np.ones((3, 3)))


def test_players_who_never_met_are_in_other_groups():
    games = np.zeros((5, 5))
    games[0, 1] = games[4, 1] = games[2, 3] = 1
    assert groups_of(games) == [[0, 1, 4], [2, 3]]


@pytest.mark.parametrize("wins", [[[0, -1], [1, 0]], [[0, np.nan], [1, 0]], [[0, 1]]])
def test_a_table_that_is_none_is_refused(wins):
    with pytest.raises(ValueError, match="expected"):
        log_strengths(np.array(wins, dtype=float))
