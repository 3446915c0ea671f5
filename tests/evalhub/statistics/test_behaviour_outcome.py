"""Whether a behaviour passes, fails or cannot be told."""

import numpy as np
import pytest

from evalhub.statistics.rates.behaviour_outcome import (
    FalseFails,
    TestedAnswers,
    Word,
    behaviour_outcome,
)

LIMITS = {"critical": 0.1, "high": 0.2, "medium": 0.3, "low": 0.5}
TestedAnswers.__test__ = False


def outcome(*tests, limit=0.1, **more):
    return behaviour_outcome([TestedAnswers.whole(*one) for one in tests], limit=limit, **more)


@pytest.mark.parametrize(("severity", "n"), [*zip(LIMITS, (29, 14, 9, 5), strict=True)])
def test_so_many_tests_without_a_failure_show_that_it_passes(severity, n):
    limit = LIMITS[severity]

    assert outcome(*[(1, 0)] * n, limit=limit).word == Word.PASSES
    short = outcome(*[(1, 0)] * (n - 1), limit=limit)
    assert (short.word, short.more_needed) == (Word.CANNOT_TELL, 1)


def test_three_of_three_say_little_however_often_they_are_asked():
    for answers in (1, 5):
        found = outcome(*[(answers, 0)] * 3)
        assert (found.word, found.more_needed) == (Word.CANNOT_TELL, 26)
        assert found.upper == pytest.approx(0.632, abs=5e-4)


def test_flaky_tests_count_with_their_share():
    found = outcome(*[(5, 4)] * 4, *[(5, 0)] * 6, false_fails=FalseFails.measured(2, 100))

    assert (found.word, found.failing) == (Word.FAILS, 4)
    assert found.rate == pytest.approx(0.32)
    assert (found.failed_answers, found.answers) == (16, 50)


@pytest.mark.parametrize(
    ("failed", "answers", "counts"), [(1, 1, True), (2, 3, True), (2, 5, True), (1, 5, False)]
)
def test_a_test_fails_by_more_than_judges_err(failed, answers, counts):
    found = outcome((answers, failed), false_fails=FalseFails.measured(2, 100))

    assert (found.failing == 1) == counts


def test_one_failing_question_is_for_people_to_look_at():
    found = outcome((1, 1), *[(1, 0)] * 11)

    assert (found.word, found.failing, found.false_fails.is_assumed) == (Word.CANNOT_TELL, 1, True)
    confirmed = outcome((1, 1), *[(1, 0)] * 11)
    assert confirmed.word == Word.CANNOT_TELL
    tests = [TestedAnswers.whole(1, 1, is_confirmed=True)] + [TestedAnswers.whole(1, 0)] * 11
    assert behaviour_outcome(tests, limit=0.5).word == Word.FAILS


def test_what_is_missing_makes_neither_word():
    passing = [TestedAnswers.whole(1, 0)] * 29
    silent = TestedAnswers(1, 0, 0, 1)
    assert behaviour_outcome([*passing, silent], limit=0.1).word == Word.CANNOT_TELL
    failing = [TestedAnswers(1, 1, 0, 1)] * 6
    assert behaviour_outcome(failing, limit=0.1).word == Word.CANNOT_TELL
    assert behaviour_outcome([TestedAnswers.whole(1, 1)] * 6, limit=0.1).word == Word.FAILS


def test_tests_of_several_issues_count_for_less():
    tests = [TestedAnswers.whole(1, 0)] * 29

    assert behaviour_outcome(tests, limit=0.1, issues=3).word == Word.CANNOT_TELL
    assert behaviour_outcome(tests, limit=0.1, issues=29).word == Word.PASSES
    assert behaviour_outcome([], limit=0.1) is None


def test_judges_that_err_make_no_issue_fail_and_a_broken_one_does():
    rng = np.random.default_rng(1)
    labels = FalseFails.measured(2, 100)

    def share(word, fails, repeats, agree, n=400):
        found = 0
        for _ in range(n):
            chance = rng.random(10) < 0.03 if agree else None
            failed = [
                int(repeats * chance[k]) if agree else int(rng.binomial(repeats, p))
                for k, p in enumerate(fails)
            ]
            found += outcome(*[(repeats, one) for one in failed], false_fails=labels).word == word
        return found / n

    healthy = [0.03] * 10
    assert share(Word.FAILS, healthy, 5, agree=True) <= 0.05
    assert share(Word.FAILS, healthy, 5, agree=False) <= 0.05
    assert share(Word.FAILS, [0.8] * 4 + [0.0] * 6, 5, agree=False) >= 0.97
    assert share(Word.FAILS, [0.8] * 4 + [0.0] * 6, 1, agree=False) == pytest.approx(0.83, abs=0.06)
