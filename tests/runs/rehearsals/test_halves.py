from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from runs.rehearsals.halves import HELD_OUT, SEEN, Drawn, groups, halves


def drawn(test, *asked, failed=False):
    return Drawn(test, frozenset(asked or [f"asked {test}"]), failed)


def numbered(n, *, failed=0):
    return [drawn(number, failed=number < failed) for number in range(n)]


def test_equal_seed_gives_equal_halves_in_any_order():
    some = numbered(20, failed=7)
    assert halves(some, seed=5, kept={}) == halves(reversed(some), seed=5, kept={})


def test_another_seed_gives_other_halves():
    some = numbered(20)
    assert halves(some, seed=5, kept={}) != halves(some, seed=6, kept={})


def test_failed_and_passed_tests_are_spread_evenly():
    found = halves(numbered(20, failed=6), seed=1, kept={})
    counts = Counter((number < 6, half) for number, half in found.items())
    assert counts == {
        (True, SEEN): 3,
        (True, HELD_OUT): 3,
        (False, SEEN): 7,
        (False, HELD_OUT): 7,
    }


def test_tests_that_ask_the_same_are_in_one_half():
    chain = [drawn(1, "a"), drawn(2, "a", "b"), drawn(3, "b"), drawn(4, "c")]
    assert [[one.test for one in group] for group in groups(chain)] == [[1, 2, 3], [4]]
    found = halves(chain, seed=3, kept={})
    assert len({found[1], found[2], found[3]}) == 1


def test_a_test_stays_in_the_half_it_was_in():
    some = numbered(12)
    before = halves(some, seed=1, kept={})
    later = halves([*some, *(drawn(n) for n in range(12, 30))], seed=2, kept=before)
    assert {number: later[number] for number in before} == before


def test_who_asks_the_same_as_a_seen_test_is_seen():
    pair = [drawn(1, "a"), drawn(2, "a")]
    assert halves(pair, seed=1, kept={1: HELD_OUT, 2: SEEN}) == {1: SEEN, 2: SEEN}


def test_tests_that_teach_are_seen():
    found = halves(numbered(12), seed=1, kept={4: HELD_OUT}, taught={3, 4})
    assert (found[3], found[4]) == (SEEN, SEEN)


@given(st.integers(2, 40), st.integers(0, 40), st.integers(0, 2**31))
def test_halves_are_of_equal_size(n, failed, seed):
    sizes = Counter(halves(numbered(n, failed=failed), seed=seed, kept={}).values())
    assert abs(sizes[SEEN] - sizes[HELD_OUT]) <= 1
