"""Library of ready criteria."""

from issues.checks import problems_of
from issues.rubrics.criterion_library import chosen, sections

ALL = [ready for section in sections() for ready in section.criteria]


def test_the_library_has_something_for_each_kind_of_question():
    assert 15 <= len(ALL) <= 25
    assert all(len(section.criteria) >= 3 for section in sections())


def test_each_says_why_and_shows_both_sides():
    assert all(r.text and r.why and r.met and r.unmet for r in ALL)
    assert len({r.key for r in ALL}) == len({r.text for r in ALL}) == len(ALL)


def test_its_checks_can_be_used_as_they_are():
    assert [r.key for r in ALL if r.check and problems_of(r.check, r.arguments)] == []


def test_the_chosen_come_in_the_librarys_order():
    keys = [ALL[3].key, "unknown", ALL[0].key]

    assert chosen(keys) == [ALL[0], ALL[3]]
