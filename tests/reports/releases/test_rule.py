"""The runs that are compared when one release is set against another."""

from datetime import UTC, datetime, timedelta

from reports.releases import rule
from reports.releases.rule import Candidates
from runs.comparison.opponent_rule import ReleasedRun
from runs.comparison.release_order_rule import Named, ReleaseOrder

START = datetime(2026, 1, 1, tzinfo=UTC)
ORDER = ReleaseOrder(tuple(Named(name, "", START) for name in ("beta", "1.0", "1.1", "1.2", "1.3")))


def runs(*rows):
    """(suite, model, release) of runs, the oldest first with number 1; returned newest first.

    A model is written as variant/model/family, which are "a" where only "a" is given.
    """
    found = []
    for number, (suite, model, release) in enumerate(rows, 1):
        variant, named, family = ([*model.split("/"), model, model])[:3]
        at = START + timedelta(days=number)
        found.append(ReleasedRun(number, suite, None, variant, named, family, release, at))
    return found[::-1]


def chosen(rows, release="", before=""):
    return rule.chosen(rows, ORDER, release, before)


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


def pairs(*rows, **options):
    return [(one.now[0], one.before) for one in chosen(runs(*rows), **options).candidates]


def test_a_new_variant_meets_its_model_and_a_new_model_its_family():
    before = [("s", "p1/clover/c", "1.1"), ("s", "k/kelp/kelps", "1.1"), ("s", "a/aurora/x", "1.1")]

    assert pairs(*before, ("s", "p2/clover/c", "1.2")) == [(4, (1,))]
    assert pairs(*before, ("s", "p3/clover-2/c", "1.2")) == [(4, (1,))]
    # What another variant or model carries on is nobody else's, and of two models none is taken.
    both = pairs(*before, ("s", "p1/clover/c", "1.2"), ("s", "p2/clover/c", "1.2"))
    assert sorted(both) == [(4, (1,)), (5, ())]
    assert pairs(*before, ("s", "b/borealis/b", "1.2")) == [(4, ())]
    two = [("s", "x/x1/x", "1.1"), ("s", "y/x2/x", "1.1"), ("s", "z/x3/x", "1.2")]
    assert pairs(*two) == [(3, ())]


def test_a_comparable_pair_goes_before_a_newer_one():
    candidates = Candidates((9, 8), (5, 4))
    no = dict.fromkeys(candidates.pairs, False)

    assert candidates.pick(no | {(4, 9): True, (5, 8): True}) == (4, 9)
    assert candidates.pick(no) == (5, 9)
    assert Candidates((9,), ()).pick({}) == (None, 9)
