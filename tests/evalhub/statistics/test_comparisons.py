from evalhub.statistics.comparisons import Comparisons, comparisons


def test_three_judges_on_five_criteria_of_which_one_answered_once():
    # 3 pairs where all answered, 1 on each of the other four; 5 · 3 expected.
    assert comparisons([(3, 3), (2, 3), (2, 3), (2, 3), (2, 3)]) == Comparisons(7, 15)


def test_one_judge_alone_is_compared_with_nobody():
    assert comparisons([(1, 1)] * 4) == Comparisons(0, 0)


def test_a_judge_that_steps_in_makes_good_what_was_missed_and_no_more():
    assert comparisons([(3, 3), (4, 3)]) == Comparisons(6, 6)


def test_without_judges_nothing_is_expected():
    assert comparisons([]) == Comparisons(0, 0)
