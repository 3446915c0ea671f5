"""Worked worlds with every intermediate figure, and the formulas written out as loops.

`worlds.json` has, of each run, columns of answers; `chance` is the read share of the stratum and
`level` two-sided. `v_before_bound` is the variance before its lower bound, `se` is after it.
"""

import json
from collections import defaultdict
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student  # type: ignore[import-untyped]

from evalhub.statistics.people.sides import Side

WORLDS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "worlds.json").read_text())
COLUMNS = ("test", "issue", "judge", "human", "chance", "weight", "stratum")


def side_in(columns: dict[str, list[Any]]) -> Side:
    human = [np.nan if one is None else one for one in columns["human"]]
    columns = columns | {"human": human}
    return Side(*(np.asarray(columns[name]) for name in COLUMNS))


def drawn_side(
    rng: np.random.Generator, tests: int, issues: int, repeats: int, strata: int, share: float
) -> Side:
    """Draw a run of whose strata about this share is read."""
    of = np.repeat(np.arange(tests), repeats)
    n = len(of)
    judged = (rng.random(n) < 0.7).astype(float)
    names = np.array([f"s{place}" for place in rng.integers(0, strata, n)])
    human = np.where(rng.random(n) < 0.8, judged, 1 - judged)
    human[rng.random(n) < 0.1] = 0.5
    human[rng.random(n) > share] = np.nan
    read = ~np.isnan(human)
    chances = np.array([max(read[names == name].mean(), 1e-3) for name in names])
    return Side(of, of * issues // tests, judged, human, chances, np.full(n, 1 / n), names)


def joined(side: Side) -> dict[str, str]:
    """Return the name of the joined stratum of each stratum."""
    made = {name: [name] for name in sorted(set(side.strata.tolist()))}

    def read(name: str) -> list[int]:
        rows = np.isin(side.strata, made[name]) & side.is_read
        return list(side.issues[rows])

    while len(made) > 1:
        small = [one for one in made if len(read(one)) < 5 or len(set(read(one))) < 2]
        if not small:
            break
        least = min(small, key=lambda one: (len(read(one)), one))
        other = min((one for one in made if one != least), key=lambda one: (len(read(one)), one))
        both = sorted(made.pop(least) + made.pop(other))
        made[both[0]] = both
    return {one: name for name, some in made.items() for one in some}


def by_loops(
    sides: list[Side], signs: list[int], *, level: float, is_shift: bool = False
) -> dict[str, Any]:
    """Return the figures of a change, a shift or a rate before its Wilson interval."""
    rows, H, C, J, q, total = [], 0.0, 0.0, 0.0, [], 0.0
    for side, sign in zip(sides, signs, strict=True):
        names = joined(side)
        of = [names[one] for one in side.strata.tolist()]
        weights, judged, human = side.weights.tolist(), side.judged.tolist(), side.read.tolist()
        every = range(len(of))
        A, pull, y, f, f_all, n = ({} for _ in range(6))
        for s in set(of):
            mine = [r for r in every if of[r] == s]
            got = [r for r in mine if side.is_read[r]]
            over = sum(weights[r] / side.chances[r] for r in got)
            A[s], n[s] = sum(weights[r] for r in mine), len(got)
            y[s] = sum(weights[r] / side.chances[r] * human[r] for r in got) / over
            f[s] = sum(weights[r] / side.chances[r] * judged[r] for r in got) / over
            f_all[s] = sum(weights[r] * judged[r] for r in mine) / A[s]
            for r in got:
                pull[r] = A[s] * weights[r] / side.chances[r] / over
        Hk = sum(A[s] * y[s] for s in A)
        Fk = sum(A[s] * f[s] for s in A)
        Jk = sum(weights[r] * judged[r] for r in every)
        H, J = H + sign * Hk, J + sign * Jk
        C += sign * sum(A[s] * (f_all[s] - f[s]) for s in A)
        q.append(sum(one**2 for one in pull.values()) / len(pull))
        for r in every:
            s, w = of[r], pull.get(r, 0.0)
            h_plain = sign * weights[r] * (y[s] - Hk)
            c_plain = sign * weights[r] * ((judged[r] - Jk) - (f[s] - Fk))
            j_plain = sign * weights[r] * (f[s] - Fk)
            h_read = sign * w * (human[r] - y[s]) if w else 0.0
            c_read = -sign * w * (judged[r] - f[s])
            spread = sqrt(n[s] / (n[s] - 1)) if n[s] > 1 else 1.0
            key = (int(side.tests[r]), int(side.issues[r]))
            rows.append((key, h_plain, h_read, c_plain, c_read, j_plain, spread, w))
    h_of: dict[int, float] = defaultdict(float)
    c_of: dict[int, float] = defaultdict(float)
    for key, h_plain, h_read, c_plain, c_read, *_ in rows:
        h_of[key[0]] += h_plain + h_read
        c_of[key[0]] += c_plain + c_read
    squares = sum(one**2 for one in c_of.values())
    tuning = -sum(h_of[k] * c_of[k] for k in h_of) / squares if squares > 1e-18 else 0.0
    by_issue = len({key[1] for key, *_ in rows}) >= 5
    estimate = J - (H + tuning * C) if is_shift else H + tuning * C
    if is_shift:
        tuning = 1 - tuning
    u_of: dict[int, float] = defaultdict(float)
    w_of: dict[int, float] = defaultdict(float)
    for key, h_plain, h_read, c_plain, c_read, j_plain, spread, w in rows:
        if is_shift:  # judge - human in the place of y
            h_plain, h_read = j_plain - h_plain, -c_read - h_read
        cluster = key[1] if by_issue else key[0]
        u_of[cluster] += h_plain + tuning * c_plain + spread * (h_read + tuning * c_read)
        w_of[cluster] += w**2
    g = len(u_of)
    variance = g / (g - 1) * sum(one**2 for one in u_of.values())
    total = sum(w_of.values())
    freedom = max(1, int(total**2 / sum(one**2 for one in w_of.values()) + 1e-9) - 1)
    error = sqrt(max(variance, sum(q)))
    reach = student.ppf(1 - level / 2, freedom) * error
    return {
        **{"estimate": estimate, "low": estimate - reach, "high": estimate + reach},
        **{"se": error, "df": freedom, "p": 2 * student.sf(abs(estimate) / error, freedom)},
        **{"v_before_bound": variance, "lam": tuning, "q": q, "judges": J},
    }
