import pytest

from evalhub.statistics.rates.wilson import wilson_interval


def test_interval_of_nothing_is_not_measured():
    assert wilson_interval(0, 0) is None


@pytest.mark.parametrize(
    ("k", "level", "interval"),
    [
        # n = 10, z = 1.959964, z² = 3.841459:
        # centre = (0.8 + 0.19207295) / 1.3841459 = 0.716740
        # half = 1.959964 / 1.3841459 · √(0.016 + 0.00960365) = 0.226577
        (8, 0.95, (0.490162, 0.943318)),
        # low = 1 / (1 + z²/n) = 1 / 1.3841459
        (10, 0.95, (0.722467, 1.0)),
        (0, 0.95, (0.0, 1 - 0.722467)),
        # z = 1.281552: half = 1.281552 / 1.1642374 · √(0.025 + 0.00410594) = 0.187796
        (5, 0.8, (0.312204, 0.687796)),
    ],
)
def test_known_values(k, level, interval):
    assert wilson_interval(k, 10, level=level) == pytest.approx(interval, abs=1e-6)


@pytest.mark.parametrize(("k", "n"), [(3, 2), (-1, 2)])
def test_impossible_count_is_refused(k, n):
    with pytest.raises(ValueError, match=f"k={k}, n={n}"):
        wilson_interval(k, n)


def test_impossible_level_is_refused():
    with pytest.raises(ValueError, match=r"between 0 and 1, got 95"):
        wilson_interval(1, 2, level=95)
