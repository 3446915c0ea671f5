import pytest

from reports.capabilities.champions_rule import Graded, champions, mean_grades
from reports.leaderboard.rule import Excluded


def grades(model, *given, dimension="clarity"):
    return [Graded(model, suite, dimension, grade) for suite, grade in enumerate(given)]


def ranked(graded):
    return champions(mean_grades(graded))


def test_highest_mean_over_enough_suites_is_champion():
    (found,) = ranked([*grades("a", 6, 7, 8, 7, 7), *grades("b", 9, 9, 9, 9, 8)])
    assert [(mean.model, mean.grade, mean.suites) for mean in found.champions] == [("b", 8.8, 5)]


def test_few_suites_are_not_enough_however_good():
    (found,) = ranked([*grades("a", 5, 5, 5, 5, 5), *grades("b", 10, 10, 10, 10)])
    assert [mean.model for mean in found.champions] == ["a"]
    assert found.excluded == (Excluded("b", "needs ≥ 5 suites, has 4"),)


def test_nobody_is_champion_without_enough_suites():
    (found,) = ranked(grades("a", 10))
    assert found.champions == ()


def test_equal_means_are_champions_together():
    (found,) = ranked([*grades("b", 7, 7, 7, 7, 7), *grades("a", 6, 8, 7, 7, 7)])
    assert [mean.model for mean in found.champions] == ["a", "b"]


def test_two_grades_in_a_suite_count_as_their_mean():
    # Suites 0 to 4 with 4 each, and one more grade of 8 in suite 0: (6 + 4·4) / 5.
    (found,) = ranked([*grades("a", 4, 4, 4, 4, 4), *grades("a", 8)])
    assert found.champions[0].grade == pytest.approx(4.4)


def test_each_dimension_has_its_own():
    found = ranked([*grades("a", *[9] * 5), *grades("b", *[8] * 5, dimension="tone")])
    assert [(one.key, one.champions[0].model) for one in found] == [("clarity", "a"), ("tone", "b")]
