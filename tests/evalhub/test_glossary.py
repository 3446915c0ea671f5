"""The glossary explains each term once, in one short line."""

import pytest

from evalhub.glossary import BY_NAME, TERMS


def test_terms_are_unique_and_sorted():
    names = [term.name for term in TERMS]

    assert names == sorted(set(names))
    assert len({term.anchor for term in TERMS}) == len(TERMS) == len(BY_NAME)


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.anchor)
def test_an_explanation_is_one_short_sentence(term):
    assert len(term.explanation.split()) <= 25
    assert term.explanation.endswith(".")
    assert not set(term.anchor) & set(" <>\"'#&")
