"""One conclusion of two sides, and what is missing counted against it."""

import numpy as np
import pytest

from evalhub.statistics.changes.conclusion import Outcome, Pair, Word, conclude
from tests.evalhub.statistics.planted_changes import PLANTED, spread

PASSED, FAILED = Outcome.whole(1.0), Outcome.whole(0.0)
NOT_SCORED = Outcome(None)


def pairs(*groups):
    """Return pairs of (n, old, new), two tests an issue."""
    found = [(old, new) for n, old, new in groups for _ in range(n)]
    return [Pair(place // 2, old, new) for place, (old, new) in enumerate(found)]


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
def test_planted_changes_have_one_word(planted):
    changes, issues = spread(planted.layout)
    old = [0.0 if change > 0 else 1.0 for change in changes]
    found = conclude(
        Pair(issue, Outcome.whole(was), Outcome.whole(was + change))
        for change, issue, was in zip(changes, issues, old, strict=True)
    )

    assert found.word == planted.word
    assert (found.would_say, found.may_hide_loss) == (None, False)
    assert found.interval == found.reading.net.interval


def test_better_on_the_whole_with_a_lost_issue_is_mixed():
    changes = [(0, 5, 5)] * 12 + [(10, 0, 0)]
    found = conclude(
        Pair(issue, FAILED if change > 0 else PASSED, FAILED if change < 0 else PASSED)
        for change, issue in zip(*spread(changes), strict=True)
    )

    assert found.word == Word.MIXED
    assert found.word.is_loss


def test_a_judge_that_fails_makes_nothing_better():
    """Of a jury of two the strict one is gone: 0.5 failed before, 1 passes now."""
    new = Outcome(1.0, 0.0, 1.0)
    found = conclude(pairs((40, FAILED, new)))

    assert found.reading.word == Word.BETTER
    assert found.word == Word.CANNOT_TELL
    assert (found.would_say, found.missing_new, found.missing_old) == (Word.BETTER, 40, 0)
    assert found.interval.low <= 0 <= found.interval.high

    back = conclude(pairs((40, Outcome(1.0, 0.0, 1.0), FAILED)))
    assert (back.word, back.would_say) == (Word.CANNOT_TELL, Word.WORSE)


def test_a_loss_that_stands_whatever_is_missing_is_one():
    found = conclude(pairs((30, PASSED, FAILED), (4, NOT_SCORED, PASSED), (60, PASSED, PASSED)))

    assert found.word == Word.WORSE
    assert found.p == found.against_old.net.p
    assert found.reading.net.tests == 90
    assert found.against_new.net.tests == 94


def test_answers_that_failed_could_hide_a_loss():
    found = conclude(pairs((80, PASSED, PASSED), (20, PASSED, NOT_SCORED)))

    assert found.reading.word == Word.SAME
    assert found.word == Word.CANNOT_TELL
    assert found.may_hide_loss
    assert found.would_say is None


def test_tests_that_neither_side_has_scored_are_left_out():
    assert conclude(pairs((5, NOT_SCORED, NOT_SCORED))).word == Word.NOTHING
    assert conclude([]).word == Word.NOTHING
    only_new = conclude(pairs((5, NOT_SCORED, PASSED)))
    assert (only_new.word, only_new.reading) == (Word.NOTHING, None)
    assert conclude(pairs((9, PASSED, PASSED), (5, NOT_SCORED, NOT_SCORED))).word == Word.SAME


def test_more_that_is_missing_never_makes_a_conclusion():
    """Bounds that widen turn a word into cannot tell, never into another."""
    rng = np.random.default_rng(4)
    for _ in range(60):
        n, shift = 60, rng.uniform(-0.5, 0.5)
        old = (rng.random(n) < 0.6).astype(float)
        new = (rng.random(n) < 0.6 + shift / 2).astype(float)
        sides = [[Outcome.whole(v) for v in side] for side in (old.tolist(), new.tolist())]
        before = conclude(Pair(k // 4, a, b) for k, (a, b) in enumerate(zip(*sides, strict=True)))
        for place in rng.choice(n, size=int(rng.integers(1, 12)), replace=False):
            side = sides[int(rng.integers(2))]
            side[place] = Outcome(side[place].share, 0.0, 1.0)
        after = conclude(Pair(k // 4, a, b) for k, (a, b) in enumerate(zip(*sides, strict=True)))
        said = {after.word, before.word}
        assert after.word in (before.word, Word.CANNOT_TELL) or said == {Word.MIXED, Word.WORSE}
