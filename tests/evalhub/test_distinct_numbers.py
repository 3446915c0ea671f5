import numpy as np
import pytest

from evalhub.values.distinct_numbers import distinct


@pytest.mark.parametrize(
    "numbers",
    [[], [7], [3, 5, 3, -2, 5], [10**12, 3, 10**12], [-(10**12)] * 3],
    ids=["none", "one", "close", "far", "alike"],
)
def test_numbers_are_listed_once_with_their_places(numbers):
    given = np.array(numbers, dtype=np.int64)

    found, places = distinct(given)

    assert found.tolist() == sorted(set(numbers))
    assert found[places].tolist() == numbers
