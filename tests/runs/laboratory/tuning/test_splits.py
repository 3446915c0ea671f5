from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from runs.laboratory.tuning.splits import DEVELOPMENT, HELD_OUT, SampledTest, groups, splits


def drawn(test, *asked, failed=False):
    return SampledTest(test, frozenset(asked or [f"asked {test}"]), failed)


def numbered(n, *, failed=0):
    return [drawn(number, failed=number < failed) for number in range(n)]


def test_equal_seed_gives_equal_splits_in_any_order():
    some = numbered(20, failed=7)
    assert splits(some, seed=5, kept={}) == splits(reversed(some), seed=5, kept={})


def test_another_seed_gives_other_splits():
    some = numbered(20)
    assert splits(some, seed=5, kept={}) != splits(some, seed=6, kept={})


def test_failed_and_passed_tests_are_spread_evenly():
    found = splits(numbered(20, failed=6), seed=1, kept={})
    counts = Counter((number < 6, split) for number, split in found.items())
    assert counts == {
        (True, DEVELOPMENT): 3,
        (True, HELD_OUT): 3,
        (False, DEVELOPMENT): 7,
        (False, HELD_OUT): 7,
    }


def test_tests_with_a_shared_prompt_are_in_one_split():
    chain = [drawn(1, "a"), drawn(2, "a", "b"), drawn(3, "b"), drawn(4, "c")]
    assert [[one.test for one in group] for group in groups(chain)] == [[1, 2, 3], [4]]
    found = splits(chain, seed=3, kept={})
    assert len({found[1], found[2], found[3]}) == 1


def test_a_test_stays_in_the_split_it_was_in():
    some = numbered(12)
    before = splits(some, seed=1, kept={})
    later = splits([*some, *(drawn(n) for n in range(12, 30))], seed=2, kept=before)
    assert {number: later[number] for number in before} == before


def test_test_with_a_development_prompt_is_development():
    pair = [drawn(1, "a"), drawn(2, "a")]
    assert splits(pair, seed=1, kept={1: HELD_OUT, 2: DEVELOPMENT}) == {
        1: DEVELOPMENT,
        2: DEVELOPMENT,
    }


def test_tests_of_examples_are_development():
    found = splits(numbered(12), seed=1, kept={4: HELD_OUT}, taught={3, 4})
    assert (found[3], found[4]) == (DEVELOPMENT, DEVELOPMENT)


@given(st.integers(2, 40), st.integers(0, 40), st.integers(0, 2**31))
def test_splits_are_of_equal_size(n, failed, seed):
    sizes = Counter(splits(numbered(n, failed=failed), seed=seed, kept={}).values())
    assert abs(sizes[DEVELOPMENT] - sizes[HELD_OUT]) <= 1
