import pytest

from evalhub.statistics.arguments import check_lengths


def test_sequences_that_differ_are_named():
    with pytest.raises(
        ValueError, match="expected values, weights and clusters of one length, got 1, 0, 2"
    ):
        check_lengths(values=[1], weights=[], clusters="ab")
