"""The runs that are compared when one release is set against another."""

from datetime import datetime, timedelta

from reports.releases.rule import Candidates, chosen
from reports.trend.series_rule import RunKey

START = datetime(2026, 1, 1)


def runs(*rows):
    """(suite, model, release) of runs, the oldest first with number 1; returned newest first."""
    found = [
        RunKey(number, suite, model, release, START + timedelta(days=number))
        for number, (suite, model, release) in enumerate(rows, 1)
    ]
    return found[::-1]


def test_the_newest_release_is_set_against_the_one_before():
    found = chosen(runs(("s", "m", "1.0"), ("s", "m", "1.1"), ("s", "m", "1.2")))

    assert (found.release, found.before) == ("1.2", "1.1")
    assert found.candidates == (Candidates((3,), (2,)),)


def test_each_model_meets_only_itself_in_its_own_suite():
    found = chosen(
        runs(
            ("s", "a", "1.0"),
            ("s", "b", "1.0"),
            ("t", "a", "1.0"),
            ("s", "a", "1.1"),
            ("s", "b", "1.1"),
            ("s", "c", "1.1"),
        )
    )

    assert set(found.candidates) == {
        Candidates((4,), (1,)),
        Candidates((5,), (2,)),
        Candidates((6,), ()),
    }


def test_the_release_before_is_one_of_the_same_suites():
    found = chosen(runs(("s", "m", "1.0"), ("other", "m", "beta"), ("s", "m", "1.1")))

    assert (found.release, found.before) == ("1.1", "1.0")


def test_other_releases_may_be_chosen():
    rows = runs(*(("s", "m", release) for release in ("1.0", "1.1", "1.2")))

    assert chosen(rows, "1.1").candidates == (Candidates((2,), (1,)),)
    assert chosen(rows, "1.2", "1.0").candidates == (Candidates((3,), (1,)),)
    assert chosen(rows, "1.0").candidates == (Candidates((1,), ()),)


def test_without_releases_the_newest_run_meets_those_before_it():
    rows = runs(*(("s", "m", "") for _ in range(5)))

    assert chosen(rows).candidates == (Candidates((5,), (4, 3, 2)),)


def test_a_comparable_pair_goes_before_a_newer_one():
    candidates = Candidates((9, 8), (5, 4))
    no = dict.fromkeys(candidates.pairs, False)

    assert candidates.pick(no | {(4, 9): True, (5, 8): True}) == (4, 9)
    assert candidates.pick(no) == (5, 9)
    assert Candidates((9,), ()).pick({}) == (None, 9)
