import pytest
from scipy.stats import binomtest  # type: ignore[import-untyped]

from evalhub.statistics.judges.canaries import canaries


@pytest.mark.parametrize(("kinder", "stricter"), [(0, 0), (5, 0), (6, 0), (8, 1), (3, 9)])
def test_it_is_the_one_sided_sign_test_of_changed_verdicts(kinder, stricter):
    before = [False] * kinder + [True] * stricter + [True, False] * 20
    now = [True] * kinder + [False] * stricter + [True, False] * 20
    found = canaries(before, now)

    n = kinder + stricter
    expected = binomtest(kinder, n, alternative="greater").pvalue if n else 1.0
    assert found.p == pytest.approx(expected)
    assert found[:2] == (kinder, stricter)
    assert found.is_kinder == (expected <= 0.02)


def test_answers_are_the_same():
    with pytest.raises(ValueError, match="one length"):
        canaries([True], [True, False])
