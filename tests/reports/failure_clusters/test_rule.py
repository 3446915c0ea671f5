"""Which failed answers belong together: planted kinds are found, and nothing else."""

from random import Random

import numpy as np
import pytest

from evalhub.llm import word_vectors
from reports.failure_clusters.rule import FailureText, clusters_of
from tests.reports.failure_clusters.planted import PASSED, PLANTED, UNLIKE, in_judges_words


def vectors(words):
    return word_vectors.load().matrix(words)


def no_vectors(words):
    return None


def clustered(reasons, *, passed=40, vectors=vectors):
    texts = [FailureText(in_judges_words(n, reason), "An answer.") for n, reason in reasons]
    fine = [FailureText(in_judges_words(n, PASSED), "An answer.") for n in range(passed)]
    return texts, clusters_of(texts, fine, vectors)


def mixed(*kinds):
    """The reasons of these kinds in an order of their own, with their kinds."""
    rows = [(kind, reason) for kind in kinds for reason in PLANTED.get(kind, UNLIKE)]
    Random(7).shuffle(rows)
    return [kind for kind, _ in rows], list(enumerate(reason for _, reason in rows))


def test_three_planted_kinds_are_three_clusters():
    kinds, reasons = mixed("dates", "sources", "language", "unlike")
    found = clustered(reasons)[1]
    by_kind = [[kinds[at] for at in one.members] for one in found]
    assert sorted((set(one).pop(), len(one)) for one in by_kind) == [
        ("dates", 5),
        ("language", 5),
        ("sources", 4),
    ]
    names = {kind[0]: one.name for kind, one in zip(by_kind, found, strict=True)}
    assert "month" in names["dates"].lower()
    assert "english" in names["language"].lower()
    assert "paper" in names["sources"].lower()
    assert not any("response" in name.lower() for name in names.values())


@pytest.mark.parametrize("kind", PLANTED)
def test_a_single_kind_is_one_cluster(kind):
    kinds, reasons = mixed(kind)
    assert [len(one.members) for one in clustered(reasons)[1]] == [len(kinds)]


def test_failures_unlike_each_other_are_in_none():
    assert clustered(mixed("unlike")[1])[1] == []


def test_the_same_texts_give_the_same_clusters():
    reasons = mixed("dates", "sources", "language", "unlike")[1]
    assert clustered(reasons) == clustered(reasons)


def test_two_answers_are_no_cluster():
    assert clustered(list(enumerate(PLANTED["dates"][:2])))[1] == []


def test_equal_reasons_are_found_without_word_vectors():
    reasons = [(n, "The date is wrong.") for n in range(4)] + list(enumerate(UNLIKE))
    found = clustered(reasons, vectors=no_vectors)[1]
    assert [one.members for one in found] == [(0, 1, 2, 3)] or {0, 1, 2, 3} == set(found[0].members)


def test_without_reasons_the_answers_are_compared():
    texts = [FailureText("", reason) for reason in (*PLANTED["language"], *UNLIKE)]
    found = clusters_of(texts, [], vectors)
    assert [set(one.members) for one in found] == [{0, 1, 2, 3, 4}]


def test_a_thousand_answers_take_seconds():
    random = Random(3)
    words = [f"word{n}" for n in range(400)]
    texts = [FailureText(" ".join(random.choices(words, k=12)), "") for _ in range(1000)]
    made = np.random.default_rng(1).normal(size=(400, 64)).astype("f")
    assert isinstance(clusters_of(texts, [], lambda found: made[: len(found)]), list)
