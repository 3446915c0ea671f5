import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.agreement.effective_votes import effective_votes


def equicorrelated(n, r):
    """Return the matrix of n judges with correlation r."""
    return [[1 if i == j else r for j in range(n)] for i in range(n)]


@given(st.integers(1, 12))
def test_independent_judges_each_count(n):
    assert effective_votes(equicorrelated(n, 0)) == n


@given(st.integers(1, 12))
def test_judges_that_agree_throughout_count_as_one(n):
    assert effective_votes(equicorrelated(n, 1)) == 1


@pytest.mark.parametrize(
    ("matrix", "votes"),
    [
        # L. Kish (1965): the design effect of clusters of n is 1 + (n - 1) · r = 1 + 4 · 0.5.
        (equicorrelated(5, 0.5), pytest.approx(5 / 3)),
        # 9 / (3 + 2 · 0.9 + 2 · 0.1 + 2 · 0.2)
        ([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]], pytest.approx(9 / 5.4)),
        (equicorrelated(2, -0.5), 4),  # errors that cancel out are worth more
        (equicorrelated(2, -1), None),  # no variance is left
        ([[1, None], [None, 1]], None),
        ([], None),
    ],
)
def test_known_values(matrix, votes):
    assert effective_votes(matrix) == votes


def test_mean_of_the_effective_votes_varies_as_much():
    # Three judges share half their variance; the mean of n_eff = 1.5 independent ones varies 2/3.
    rng = np.random.default_rng(1)
    votes = rng.normal(size=(3, 200_000)) * 0.5**0.5 + rng.normal(size=200_000) * 0.5**0.5
    found = effective_votes(np.corrcoef(votes).tolist())
    assert found == pytest.approx(1.5, abs=0.01)
    assert votes.mean(axis=0).var() == pytest.approx(1 / found, abs=0.01)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 0], [0]], "2 correlations in a row, got 1"),
        ([[1, 0.2], [0.3, 1]], r"got 0\.2 and 0\.3 at 0, 1"),
        ([[1, 2], [2, 1]], "got 2 and 2 at 0, 1"),
        ([[0.5]], r"got 0\.5 and 0\.5 at 0, 0"),
        ([[1, None], [0.3, 1]], r"got None and 0\.3"),
    ],
)
def test_what_is_no_correlation_matrix_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        effective_votes(matrix)
