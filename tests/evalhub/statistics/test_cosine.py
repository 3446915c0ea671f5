from math import inf, nan, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.cosine import cosine

NUMBERS = st.floats(-1e6, 1e6)
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=20)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3], [1, 2, 3], 1),
        ([1, 2, 3], [-2, -4, -6], -1),
        ([1, 0], [0, 1], 0),
        ([1, 0], [1, 1], 1 / sqrt(2)),
        # 1·4 + 2·5 + 3·6 = 32, √14·√77
        ([1, 2, 3], [4, 5, 6], 32 / sqrt(14 * 77)),
    ],
)
def test_known_value(first, second, expected):
    assert cosine(first, second) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("first", "second"),
    [([0, 0], [1, 2]), ([1, 2], [0, 0]), ([0, 0], [0, 0]), ([], []), ([nan, 1], [1, 1])],
)
def test_vector_without_a_direction_gives_none(first, second):
    assert cosine(first, second) is None


def test_infinite_number_gives_none():
    assert cosine([inf, 1], [1, 1]) is None


def test_vectors_of_different_length_are_refused():
    with pytest.raises(ValueError, match="equal length, got 2, 3"):
        cosine([1, 2], [1, 2, 3])


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_length_does_not_matter(scale):
    assert cosine([3 * scale, 4 * scale], [4, 3]) == pytest.approx(24 / 25)


@given(PAIRS)
def test_it_lies_in_range_and_is_symmetric(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = cosine(first, second)
    assert found == cosine(second, first)
    assert found is None or -1 <= found <= 1


@given(st.lists(NUMBERS, min_size=1, max_size=20).filter(any))
def test_vector_is_nearest_to_itself(vector):
    assert cosine(vector, vector) == pytest.approx(1)
