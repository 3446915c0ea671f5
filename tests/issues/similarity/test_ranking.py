"""Similarity in meaning and in words. Pure."""

import numpy as np
import pytest

from issues.similarity.ranking import (
    MEANING_SHARE,
    MIN_SIMILARITY,
    TextIndex,
    TextMatch,
    directions,
    stem,
    words_of,
)


def text_index_of(*texts, vectors=None):
    text_index = TextIndex()
    made = None if vectors is None else np.array(vectors, np.float32)
    text_index.put(dict(enumerate(texts, 1)), made)
    return text_index


def keys(text_index, text, vector=None):
    given = None if vector is None else np.array(vector, np.float32)
    return [near.key for near in text_index.nearest(text, given)]


@pytest.mark.parametrize(
    ("words", "same"),
    [(("round", "rounds", "rounded", "rounding"), "round"), (("date", "dates"), "dat")],
)
def test_forms_of_a_word_are_one(words, same):
    assert {stem(word) for word in words} == {same}


def test_words_that_tell_nothing_are_left_out():
    assert words_of("It was the Rounding of 12 cents, and of cents!") == {
        "round": "rounding",
        "12": "12",
        "cent": "cents",
    }


def test_a_rare_word_counts_more_than_a_frequent_one():
    texts = [*(f"cents number {n}" for n in range(9)), "zebra"]
    text_index = text_index_of(*texts)

    assert keys(text_index, "zebra cents")[0] == 10


def test_the_score_is_the_weighted_mean_of_both():
    text_index = text_index_of("zebra", vectors=[[3.0, 4.0]])

    (near,) = text_index.nearest("zebra", np.array([5.0, 0.0], np.float32))

    # cosine 3/5; the only word is shared: 0.75 · 0.6 + 0.25 · 1
    assert near.meaning == pytest.approx(0.6)
    assert near.score == pytest.approx(MEANING_SHARE * 0.6 + 1 - MEANING_SHARE)


def test_opposite_meaning_is_no_nearer_than_none():
    text_index = text_index_of("zebra", vectors=[[-1.0, 0.0]])

    (near,) = text_index.nearest("zebra", np.array([1.0, 0.0], np.float32))

    assert near.score == pytest.approx(1 - MEANING_SHARE)


def test_what_is_far_is_not_found():
    text_index = text_index_of("zebra", vectors=[[MIN_SIMILARITY * 0.9, 1.0]])

    assert keys(text_index, "giraffe", [1.0, 0.0]) == []


def test_of_two_equally_near_the_newer_is_first():
    assert keys(text_index_of("zebra", "zebra"), "zebra") == [2, 1]


def test_a_text_that_is_put_again_is_changed():
    text_index = text_index_of("zebra", "giraffe", vectors=[[1.0, 0.0], [0.0, 1.0]])
    text_index.put({1: "lion"}, np.array([[0.0, 1.0]], np.float32))

    assert keys(text_index, "zebra", [1.0, 0.0]) == []
    assert keys(text_index, "lion", [0.0, 1.0]) == [1, 2]
    assert len(text_index) == 2


def test_what_is_dropped_is_gone_and_others_keep_their_vectors():
    text_index = text_index_of("zebra", "giraffe", vectors=[[1.0, 0.0], [0.0, 1.0]])
    text_index.drop([1, 99])

    assert keys(text_index, "x", [0.0, 1.0]) == [2]
    assert 1 not in text_index


def test_shares_of_a_database_take_the_place_of_the_words():
    text_index = text_index_of("zebra", "giraffe")

    found = list(text_index.nearest("zebra", None, {2: 0.5, 99: 1.0}))

    assert [(near.key, near.score) for near in found] == [(2, 0.5)]


def test_reasons_say_how_near_and_which_words():
    assert (
        TextMatch(1, 0.7, 0.7, ("zebra", "lion")).why == "near duplicate; shared words: zebra, lion"
    )
    assert TextMatch(1, 0.2, 0.1, ()).why == ""
    assert TextMatch(1, 0.2, None, ("lion",)).why == "shared words: lion"


def test_telling_words_are_rare_and_known():
    texts = [*(f"cents {n}" for n in range(30)), "zebra cents"]

    assert text_index_of(*texts).distinctive_words("zebra giraffe cents", 5, 100) == ["zebra"]


def test_telling_words_are_no_more_than_so_many_texts_have():
    text_index = text_index_of("zebra", "zebra", "lion", "lion", "lion", "bear")

    assert text_index.distinctive_words("zebra lion bear", 5, 3) == ["bear", "zebra"]
    assert text_index.distinctive_words("lion", 5, 1) == ["lion"]


def test_a_vector_without_direction_stays_without():
    assert directions(np.zeros((1, 3), np.float32)).tolist() == [[0.0, 0.0, 0.0]]
