"""Strengths of players from their wins over each other, by the model of Bradley and Terry.

P(i beats j) = 1 / (1 + exp(θj - θi)), θ the log strength. A tie counts as half a win for each.
Davidson's model has a further parameter for how often ties occur; its strengths rest on the same
counts, wins plus half the ties. It is left out because what is counted as a tie here includes
verdicts that changed with the order of the answers, which says something about the judge and
nothing about how close two answers are.

Each player is given half a win and half a loss against one more opponent, of θ = 0 for all. Without
it, a player who never loses would be infinitely strong. With it, each table has one finite
solution, and a player who never met another stays at 0. It pulls a player of n games towards the
others as one more game would.

Source: R. A. Bradley, M. E. Terry (1952), doi:10.1093/biomet/39.3-4.324; R. R. Davidson (1970),
doi:10.1080/01621459.1970.10481082; for the half win and half loss S. Greenland, M. A. Mansournia
(2015), doi:10.1002/sim.6537 (log-F(1,1) prior); D. R. Hunter (2004), MM algorithms for generalized
Bradley-Terry models, doi:10.1214/aos/1079120141.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PRIOR = 0.5
"""Wins and losses, each, of every player against the further opponent."""

_MOST_STEPS = 500
_TOLERANCE = 1e-10


def log_strengths(wins: Floats) -> Floats:
    """Return the log strength of each player; 0 is that of the further opponent.

    In each step the better of two candidates is taken: Newton's, which is fast, and Hunter's, which
    never lowers the penalised likelihood. That is strictly concave with a finite maximum, so that
    the steps converge to it from anywhere.

    Args:
        wins: Wins of the row's player over the column's, ties as half a win for each, shape
            (..., k, k), not negative; the diagonal is ignored.

    Returns:
        Natural logarithms, shape (..., k).

    Raises:
        ValueError: The table is not square, or has a negative or infinite number.
    """
    table = _checked(wins)
    games = table + np.swapaxes(table, -1, -2)
    won = table.sum(axis=-1) + PRIOR
    found = np.zeros(table.shape[:-1])
    height = _likelihood(found, table)
    for _ in range(_MOST_STEPS):
        newton, hunter = _newton(found, games, won), _hunter(found, games, won)
        is_better = _likelihood(newton, table) > _likelihood(hunter, table)
        new = np.where(is_better[..., None], newton, hunter)
        new_height = _likelihood(new, table)
        is_done = np.abs(new - found).max(initial=0) < _TOLERANCE
        found, height = np.where((new_height >= height)[..., None], new, found), new_height
        if is_done:
            break
    return found


def win_chances(strengths: Floats) -> Floats:
    """Return each player's chance to beat each other: (..., k) → (..., k, k)."""
    away = strengths[..., :, None] - strengths[..., None, :]
    return np.asarray(1 / (1 + np.exp(-np.clip(away, -700, 700))), dtype=np.float64)


def groups_of(games: Floats) -> list[list[int]]:
    """Return the places of players that met each other, directly or through others.

    Players of different groups cannot be compared.

    Args:
        games: Games between each two, shape (k, k).
    """
    met = (np.asarray(games) + np.asarray(games).T) > 0
    left, groups = list(range(len(met))), []
    while left:
        group, waiting = set(), [left[0]]
        while waiting:
            place = waiting.pop()
            group.add(place)
            waiting += [int(other) for other in np.flatnonzero(met[place]) if other not in group]
        groups.append(sorted(group))
        left = [place for place in left if place not in group]
    return groups


def _checked(wins: Floats) -> Floats:
    table = np.array(wins, dtype=np.float64)
    if table.ndim < 2 or table.shape[-1] != table.shape[-2]:
        raise ValueError(f"expected a square table of wins, got shape {table.shape}")
    if not np.isfinite(table).all() or table.min(initial=0) < 0:
        raise ValueError(f"expected finite wins of 0 or more, got {table.tolist()}")
    places = np.arange(table.shape[-1])
    table[..., places, places] = 0
    return table


def _likelihood(found: Floats, wins: Floats) -> Floats:
    away = found[..., :, None] - found[..., None, :]
    games = -(wins * np.logaddexp(0, -away)).sum(axis=(-1, -2))
    prior = PRIOR * (found - 2 * np.logaddexp(0, found)).sum(axis=-1)
    return np.asarray(games + prior, dtype=np.float64)


def _newton(found: Floats, games: Floats, won: Floats) -> Floats:
    chances, against = win_chances(found), 1 / (1 + np.exp(-np.clip(found, -700, 700)))
    slope = won - (games * chances).sum(axis=-1) - 2 * PRIOR * against
    bend = games * chances * (1 - chances)
    hessian = -bend
    places = np.arange(found.shape[-1])
    hessian[..., places, places] = bend.sum(axis=-1) + 2 * PRIOR * against * (1 - against) + 1e-12
    step = np.linalg.solve(hessian, slope[..., None])[..., 0]
    return np.asarray(found + np.clip(step, -2, 2), dtype=np.float64)


def _hunter(found: Floats, games: Floats, won: Floats) -> Floats:
    strength = np.exp(found)
    shares = (games / (strength[..., :, None] + strength[..., None, :])).sum(axis=-1)
    return np.asarray(np.log(won / (shares + 2 * PRIOR / (strength + 1))), dtype=np.float64)
