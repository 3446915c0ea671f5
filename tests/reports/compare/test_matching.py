"""Which tests of two runs may be compared."""

from hypothesis import given
from hypothesis import strategies as st

from reports.compare.matching_rule import Digests, Pair, match, revisions_apart
from tests.reports.compare.builders import one_test


def test_a_revision_is_matched_with_itself_and_copies_by_their_content():
    before, after, copy = one_test(1, "p"), one_test(1, "f"), one_test(2)
    digests = {1: Digests("same", "question"), 2: Digests("same", "question")}

    assert match([before], [after], {}).pairs == (Pair(before, after),)
    assert match([before], [copy], digests).pairs == (Pair(before, copy),)


def test_two_copies_in_both_runs_are_each_matched_once():
    first = [one_test(1), one_test(2)]
    second = [one_test(2, "f"), one_test(1, "f")]

    pairs = match(first, second, {}).pairs

    assert [(pair.first.revision_id, pair.second.revision_id) for pair in pairs] == [(1, 1), (2, 2)]


def test_a_rubric_or_text_that_changed_is_kept_apart():
    before, after = one_test(1), one_test(2, test_id=1)

    for question, kept in (("question", "rubric_changed"), ("rewritten", "text_changed")):
        digests = {1: Digests("as it was", "question"), 2: Digests("changed", question)}
        found = match([before], [after], digests)
        assert (found.pairs, getattr(found, kept)) == ((), (Pair(before, after),))


def test_the_same_question_of_another_test_is_matched_after_that_of_its_own():
    first = [one_test(1, test_id=7)]
    second = [one_test(3, test_id=8), one_test(2, test_id=7)]
    digests = {1: Digests("a", "q"), 2: Digests("b", "q"), 3: Digests("c", "q")}

    found = match(first, second, digests)

    assert found.rubric_changed == (Pair(first[0], second[1]),)
    assert found.only_second == (second[0],)


def test_unmatched_tests_name_their_run():
    digests = {1: Digests("a", "a"), 2: Digests("b", "b")}

    found = match([one_test(1)], [one_test(2)], digests)

    assert (found.only_first, found.only_second) == ((one_test(1),), (one_test(2),))


def test_digests_are_needed_only_of_what_one_run_has():
    assert revisions_apart([one_test(1), one_test(2)], [one_test(2), one_test(3)]) == {1, 3}


revisions = st.lists(st.integers(1, 12), unique=True)
contents = st.dictionaries(
    st.integers(1, 12), st.tuples(st.sampled_from("abc"), st.sampled_from("xy"))
)


@given(revisions, revisions, contents)
def test_every_test_of_either_run_is_in_one_place(first, second, content):
    digests = {n: Digests(*content.get(n, (str(n), str(n)))) for n in range(1, 13)}
    before = [one_test(n, test_id=n % 5) for n in first]
    after = [one_test(n, test_id=n % 5) for n in second]

    found = match(before, after, digests)

    pairs = [*found.pairs, *found.rubric_changed, *found.text_changed]
    assert sorted([pair.first for pair in pairs] + list(found.only_first)) == sorted(before)
    assert sorted([pair.second for pair in pairs] + list(found.only_second)) == sorted(after)
    assert all(
        digests[pair.first.revision_id] == digests[pair.second.revision_id]
        or pair.first.revision_id == pair.second.revision_id
        or digests[pair.first.revision_id].digest == digests[pair.second.revision_id].digest
        for pair in found.pairs
    )
