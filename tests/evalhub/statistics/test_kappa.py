import pytest

from evalhub.statistics.agreement.kappa import confusion, kappa_from_confusion

LEVELS = [0, 0.5, 1]


def cohen_kappa(first, second, **options):
    return kappa_from_confusion(confusion(first, second), **options)


def test_plain_known_value():
    # They agree on 9 of 10; 1 is said 5 and 6 times: chance = (5·6 + 5·4) / 100 = 0.5,
    # kappa = (0.9 - 0.5) / (1 - 0.5)
    judge = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    user = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert cohen_kappa(judge, user) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        # Pairs (0,0) (0,0.5) (0.5,0.5) (1,0) (1,1); rows 2,1,2; columns 2,2,1; n = 5.
        # plain: 2 of 5 differ; expected (25 - (4+2+2)) = 17: 1 - 2·5/17
        ("plain", 1 - 10 / 17),
        # linear: 1 + 2 = 3; expected 2·2·1 + 2·1·2 + 1·2·1 + 1·1·1 + 2·2·2 + 2·2·1 = 23
        ("linear", 1 - 15 / 23),
        # quadratic: 1 + 4 = 5; expected 4·1 + 2·4 + 2·1 + 1·1 + 4·4 + 4·1 = 35
        ("quadratic", 1 - 25 / 35),
    ],
)
def test_weighted_known_values(weights, expected):
    first, second = [0, 0, 0.5, 1, 1], [0, 0.5, 0.5, 0, 1]
    assert cohen_kappa(first, second, weights=weights, levels=LEVELS) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("first", "second", "kappa"),
    [
        ([0, 1, 0.5], [0, 1, 0.5], 1),
        ([0, 1], [1, 0], -1),
        ([0, 1, None, 1], [0, 1, 1, None], 1),  # a missing rating drops the pair
        # Without variation it is not defined.
        *(([], [], None), ([1, 1], [1, 1], None), ([None], [1], None)),
    ],
)
def test_kappa_at_its_ends(first, second, kappa):
    assert cohen_kappa(first, second) == kappa


def test_level_that_nobody_used_is_a_step_when_named():
    first, second = [0, 1, 0.25], [1, 1, 0.25]
    assert cohen_kappa(first, second, weights="linear") != cohen_kappa(
        first, second, weights="linear", levels=[0, 0.25, 0.5, 0.75, 1]
    )


def test_counts_of_parts_add_up_to_the_whole():
    first, second = [0, 0, 1, 1, 0], [0, 1, 1, 1, 0]
    whole = confusion(first, second)
    left, right = confusion(first[:2], second[:2]), confusion(first[2:], second[2:])
    parts = {pair: left.get(pair, 0) + right.get(pair, 0) for pair in left.keys() | right.keys()}
    assert kappa_from_confusion(parts) == kappa_from_confusion(whole)


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="got 1, 2"):
        confusion([1], [1, 0])


def test_value_outside_the_levels_is_named():
    with pytest.raises(ValueError, match=r"values \[0.3\] are not among the levels \[0, 0.5, 1\]"):
        cohen_kappa([0.3, 1], [1, 1], levels=LEVELS)
