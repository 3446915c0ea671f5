import pytest

from issues.judge_templates.pairwise_prompt import Choice
from runs.laboratory.pairwise.outcome_rule import OrderedChoice, outcome_of

FIRST, SECOND, TIE = Choice.FIRST, Choice.SECOND, Choice.TIE


def judged(*choices):
    """Choices in terms of the pair, by order."""
    return [OrderedChoice(order, choice, choice is None) for order, choice in enumerate(choices)]


@pytest.mark.parametrize(
    ("choices", "score", "is_biased"),
    [
        ((FIRST, FIRST), 1, False),
        ((SECOND, SECOND), 0, False),
        ((TIE, TIE), 0.5, False),
        ((FIRST, SECOND), 0.5, True),
        ((FIRST, TIE), 0.5, True),
    ],
)
def test_a_judge_decides_by_both_orders(choices, score, is_biased):
    found = outcome_of(judged(*choices), [])
    assert found.judge is not None
    assert (found.score, found.judge.is_biased) == (score, is_biased)


@pytest.mark.parametrize("choices", [(FIRST, None), (None, None), (FIRST,), ()])
def test_a_failed_or_missing_order_is_unscored_and_never_a_tie(choices):
    found = outcome_of(judged(*choices), [])
    assert found.score is None
    assert found.is_failed == (None in choices)


def test_people_override_the_judge_and_are_compared_with_it():
    found = outcome_of(judged(FIRST, FIRST), [SECOND, SECOND])
    assert (found.score, found.agrees, found.is_overridden) == (0, False, True)
    assert outcome_of(judged(FIRST, FIRST), [FIRST]).agrees is True


def test_people_who_differ_leave_the_pair_unscored():
    found = outcome_of(judged(FIRST, FIRST), [SECOND, TIE])
    assert (found.score, found.is_disputed, found.agrees) == (None, True, None)


def test_people_do_not_override_a_judge_who_was_asked_something_else():
    found = outcome_of(judged(FIRST, FIRST), [SECOND], own_criterion=True)
    assert (found.score, found.agrees, found.is_overridden) == (1, None, False)
