import pytest

from evalhub.statistics.weighted_mean import weighted_mean


def test_known_value():
    # (2 · 1 + 1 · 0.5) / 3
    assert weighted_mean([1, 0.5], [2, 1]) == pytest.approx(2.5 / 3)


def test_unmeasured_value_takes_its_weight_with_it():
    assert weighted_mean([1, None], [1, 9]) == 1


@pytest.mark.parametrize(("values", "weights"), [([], []), ([None], [1]), ([1], [0])])
def test_nothing_measured_gives_none(values, weights):
    assert weighted_mean(values, weights) is None


def test_missing_weight_is_refused():
    with pytest.raises(ValueError, match="a weight for each value, got 2, 1"):
        weighted_mean([1, 0], [1])


def test_negative_weight_is_refused():
    with pytest.raises(ValueError, match="got -1"):
        weighted_mean([1, 0], [1, -1])
