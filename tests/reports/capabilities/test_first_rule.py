"""The evidence that the first of a list is ahead."""

from collections.abc import Hashable

import pytest

from reports.capabilities.first_rule import AgainstFirst, Weighted, against_first


def model(*values: float, start: int = 0) -> dict[Hashable, Weighted]:
    return {key: Weighted(1.0, value) for key, value in enumerate(values, start)}


def test_a_model_ahead_on_everything_shared_is_significant_from_enough_on():
    ((first, second),) = against_first([[model(*[0.9] * 8), model(*[0.2] * 8)]])

    assert first.p is None
    assert (second.shared, second.p) == (8, pytest.approx(2 / 2**8))


def test_p_is_corrected_for_all_pairs_of_models_of_all_lists():
    lists = [[model(*[0.9] * 8), model(*[0.2] * 8), model(*[0.2] * 8)]] * 2
    ((_, second, _), _) = against_first(lists)

    # Three pairs of models in each of two lists.
    assert second.p == pytest.approx(6 * 2 / 2**8)


def test_models_that_share_nothing_are_not_tested():
    ((_, second),) = against_first([[model(0.9), model(0.2, start=1)]])

    assert second == AgainstFirst(0, None)
