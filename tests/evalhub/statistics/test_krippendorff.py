import json
from random import Random

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.agreement.alpha_bands import Band, band
from evalhub.statistics.agreement.krippendorff import (
    alpha,
    alpha_from_coincidences,
    as_json,
    coincidences,
    from_json,
    summed,
)
from evalhub.statistics.interval import Interval

# Four observers and twelve units of Krippendorff (2011), section C.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
UNITS = list(zip(*OBSERVERS, strict=True))

VALUES = st.sampled_from([None, 0, 0.25, 0.5, 0.75, 1])
TABLES = st.integers(2, 4).flatmap(
    lambda raters: st.lists(st.lists(VALUES, min_size=raters, max_size=raters), max_size=12)
)
LEVELS = st.sampled_from(["nominal", "ordinal", "interval"])


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_reference_data_give_the_published_alpha(level, published):
    assert alpha(UNITS, level) == pytest.approx(published, abs=0.0005)


def test_reference_data_have_forty_pairable_ratings():
    # 41 ratings, less the single one of unit 12.
    assert sum(coincidences(UNITS).values()) == pytest.approx(40)


def test_known_value_by_hand():
    # Two raters, units (0, 0), (0, 1), (1, 1): o_01 = o_10 = 1, n_0 = n_1 = 3, n = 6.
    # alpha = 1 - (6 - 1) · 2 / (2 · 3 · 3) = 1 - 10/18
    assert alpha([(0, 0), (0, 1), (1, 1)]) == pytest.approx(1 - 10 / 18)


def test_two_values_have_one_alpha_at_every_level():
    table = [(0, 0), (0, 1), (1, 1), (1, 1)]
    assert alpha(table, "nominal") == pytest.approx(alpha(table, "interval"))


def test_ordinal_looks_at_ranks_only():
    stretched = [[None if v is None else v**3 for v in unit] for unit in UNITS]
    assert alpha(stretched, "ordinal") == pytest.approx(alpha(UNITS, "ordinal"))


@pytest.mark.parametrize(
    "table", [[], [(1, None), (None, 0)], [(0, 0), (0, 0), (0, None), (None, 1)]]
)
def test_alpha_without_two_different_pairable_values_is_not_defined(table):
    assert alpha(table) is None


@given(TABLES, LEVELS, st.randoms(use_true_random=False))
def test_order_of_units_and_raters_does_not_matter(table, level, random):
    columns = list(zip(*table, strict=True))
    random.shuffle(columns)
    shuffled = [list(row) for row in zip(*columns, strict=True)]
    random.shuffle(shuffled)
    assert alpha(shuffled, level) == pytest.approx(alpha(table, level))


def alpha_of_the_package(table, level):
    """Return the krippendorff package's alpha; None where it finds no value."""
    ratings = np.array(table, dtype=float).T  # a row for each rater, and nan for None
    try:
        with np.errstate(all="ignore"):
            value = krippendorff.alpha(reliability_data=ratings, level_of_measurement=level)
    except ValueError:
        return None
    return None if np.isnan(value) else value


@given(TABLES.filter(bool), LEVELS)
def test_alpha_is_that_of_the_krippendorff_package(table, level):
    assert alpha(table, level) == pytest.approx(alpha_of_the_package(table, level))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_of_many_ratings_is_that_of_the_krippendorff_package(level):
    rng = Random(7)
    truth = [rng.choice([0, 0.25, 0.5, 0.75, 1]) for _ in range(300)]
    table = [[rng.choice([None, v, v, rng.random() // 0.25 / 4]) for _ in range(5)] for v in truth]
    assert alpha(table, level) == pytest.approx(alpha_of_the_package(table, level), rel=1e-9)


@given(TABLES, LEVELS)
def test_alpha_never_exceeds_one(table, level):
    value = alpha(table, level)
    assert value is None or value <= 1


def test_matrices_of_parts_add_up_to_the_whole():
    parts = [coincidences(UNITS[:5]), coincidences(UNITS[5:])]
    assert alpha_from_coincidences(summed(parts)) == pytest.approx(alpha(UNITS))


def test_matrix_survives_json():
    matrix = coincidences(UNITS)
    assert from_json(json.loads(json.dumps(as_json(matrix)))) == matrix


def test_random_ratings_have_an_alpha_near_zero():
    rng = Random(3)
    table = [[rng.choice([0, 0.5, 1]) for _ in range(3)] for _ in range(2000)]
    assert alpha(table) == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.8, 1, Band.RELIABLE),
        (0.8 - 1e-12, 1, Band.RELIABLE),
        (0.799, 1, Band.NOT_ENOUGH_DATA),
        (0.667, 0.799, Band.TENTATIVE),
        (0.666, 0.799, Band.NOT_ENOUGH_DATA),
        (-0.5, 0.667, Band.NOT_ENOUGH_DATA),
        (-0.5, 0.666, Band.UNRELIABLE),
    ],
)
def test_band_goes_by_the_bounds(low, high, expected):
    assert band((low + high) / 2, Interval(low, high), raters=2, units=5) is expected


def test_without_alpha_or_interval_there_is_no_direction():
    assert band(None, None, raters=2, units=5) is Band.NO_VARIATION
    assert band(0.9, None, raters=2, units=5) is Band.NOT_ENOUGH_DATA


@pytest.mark.parametrize(("raters", "units"), [(1, 100), (3, 4)])
def test_too_little_data_outweighs_any_alpha(raters, units):
    found = band(1.0, Interval(0.9, 1), raters=raters, units=units)
    assert found is Band.NOT_ENOUGH_DATA
