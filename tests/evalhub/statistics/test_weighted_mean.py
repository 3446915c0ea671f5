import pytest

from evalhub.statistics.weighted_mean import weighted_mean


@pytest.mark.parametrize(
    ("values", "weights", "mean"),
    [
        ([1, 0.5], [2, 1], pytest.approx(2.5 / 3)),  # (2 · 1 + 1 · 0.5) / 3
        ([1, None], [1, 9], 1),  # an unmeasured value takes its weight with it
        *(([], [], None), ([None], [1], None), ([1], [0], None)),
    ],
)
def test_known_values(values, weights, mean):
    assert weighted_mean(values, weights) == mean


def test_missing_weight_is_refused():
    with pytest.raises(ValueError, match="a weight for each value, got 2, 1"):
        weighted_mean([1, 0], [1])


def test_negative_weight_is_refused():
    with pytest.raises(ValueError, match="got -1"):
        weighted_mean([1, 0], [1, -1])
