"""Merging issues loses nothing: what they have moves, what they said is kept, all can be undone."""

import pytest

from evalhub.refusals import Refused
from issues.lifecycle import states
from issues.lifecycle.merging import may_merge, merge, undo_merge
from issues.models import Comment, Feedback, Issue, Merge, Source
from tests.factories import first_result, make_issue, make_run, make_test, make_user

pytestmark = pytest.mark.django_db


def make_pair(**fields):
    """Two issues, the one that goes with a row of everything."""
    merged_away = make_issue(
        **{"title": "Rounds sums", "description": "It rounds.", "tags": ("money", "sums")} | fields
    )
    kept = make_issue(title="Cannot add", description="It adds wrong.", tags=("sums",))
    make_test("1.5 + 1.5?", issue=merged_away)
    make_test("2 + 2?", issue=kept)
    Feedback.objects.create(comment="Wrong sum", issue=merged_away)
    Comment.objects.create(issue=merged_away, text="Seen twice", author=make_user())
    Source.objects.create(issue=merged_away, value="desk")
    return merged_away, kept


def holdings(issue):
    names = ("tests", "feedback", "comments", "sources")
    tags = {tag.name for tag in issue.tags.all()}
    return tuple(getattr(issue, name).count() for name in names), tags


def test_what_an_issue_has_moves_to_the_one_that_stays():
    merged_away, kept = make_pair()

    merge([merged_away], kept, by=make_user())

    merged_away.refresh_from_db()
    assert holdings(kept) == ((2, 1, 2, 1), {"money", "sums"})  # a comment more: what was lost
    assert holdings(merged_away) == ((0, 0, 0, 0), {"money", "sums"})
    assert (merged_away.state, merged_away.merged_into) == ("deprecated", kept)


def test_what_loses_is_kept_as_a_comment():
    merged_away, kept = make_pair(severity="high")

    merge([merged_away], kept, take={"title": merged_away}, by=make_user())

    kept.refresh_from_db()
    assert (kept.title, kept.description) == ("Rounds sums", "It adds wrong.")
    said = list(kept.comments.order_by("pk").values_list("text", flat=True))[1:]
    assert said == [
        "Texts of this issue before a merge:\n\ntitle: Cannot add",
        f"Texts of issue {merged_away.pk}, merged into this one:\n\n"
        "description: It rounds.\n\nseverity: High",
    ]


def test_every_moved_row_tells_who_moved_it_and_whence():
    merged_away, kept = make_pair()
    user = make_user()

    merge([merged_away], kept, by=user)

    for row in (kept.feedback.get(), kept.tests.get(messages__0__content="1.5 + 1.5?")):
        record = row.history.latest()
        told = f"Moved from issue {merged_away.pk} to {kept.pk}: merged"
        assert (record.history_user, record.history_change_reason) == (user, told)
    assert merged_away.history.latest().history_change_reason == f"Merged into issue {kept.pk}"


def test_three_become_one_and_a_result_keeps_the_issue_that_it_was_frozen_with():
    (merged_away, kept), other = make_pair(), make_issue()
    make_test(issue=other)
    result = first_result(make_run(merged_away.tests.get()))

    merge([merged_away, other], kept, by=None)

    assert kept.tests.count() == 3
    assert set(kept.merged.all()) == {merged_away, other}
    result.refresh_from_db()
    assert result.issue == merged_away


def test_a_merged_issue_makes_no_move():
    merged_away, kept = make_pair()
    merge([merged_away], kept, by=None)
    merged_away.refresh_from_db()

    assert states.open_moves(merged_away, make_user("maintainer")) == []
    with pytest.raises(Refused, match="Undo the merge first"):
        states.move(merged_away, "draft", by=None)


@pytest.mark.parametrize("kind", ["goes twice", "into a merged one", "into itself", "deprecated"])
def test_what_cannot_be_merged_is_refused_in_words(kind):
    merged_away, kept = make_pair()
    third = make_issue(title="Third", state="deprecated" if kind == "deprecated" else "approved")
    if kind in ("goes twice", "into a merged one"):
        merge([merged_away], kept, by=None)
    chosen = {
        "goes twice": ([merged_away], third, "merged into"),
        "into a merged one": ([third], merged_away, "merged into"),
        "into itself": ([kept], kept, "into itself"),
        "deprecated": ([kept], third, "is deprecated"),
    }[kind]

    with pytest.raises(Refused, match=chosen[2]):
        merge(chosen[0], chosen[1], by=None)

    assert third.tests.count() == 0


def test_a_merge_taken_back_leaves_both_as_they_were():
    merged_away, kept = make_pair(severity="high")
    before = holdings(merged_away), holdings(kept)
    merge([merged_away], kept, take={"title": merged_away, "severity": merged_away}, by=make_user())

    back = undo_merge(merged_away, by=make_user())

    merged_away.refresh_from_db()
    kept.refresh_from_db()
    assert back == (4, [])
    said = (1, 1, 2, 1)  # with what the merge wrote of it
    assert holdings(merged_away) == (said, before[0][1])
    assert (kept.title, kept.severity) == ("Cannot add", "medium")
    assert (merged_away.state, merged_away.merged_into, holdings(kept)[1]) == (
        "approved",
        None,
        {"sums"},
    )
    assert kept.tests.count() == 1


def test_what_changed_since_stays_and_is_told():
    merged_away, kept = make_pair()
    merge([merged_away], kept, take={"title": merged_away}, by=None)
    elsewhere = make_issue()
    kept.tests.filter(messages__0__content="1.5 + 1.5?").update(issue=elsewhere)
    kept.refresh_from_db()
    kept.title = "Cannot count"
    kept.save()

    back = undo_merge(merged_away, by=None)

    kept.refresh_from_db()
    assert (elsewhere.tests.count(), kept.title) == (1, "Cannot count")
    assert back.left == [
        "1 of 1 tests were moved elsewhere since then and stay there.",
        "Its title was edited since then and stays as it is.",
    ]


def test_a_merge_below_another_points_to_where_its_tests_are_and_is_taken_back_after_it():
    (merged_away, kept), third = make_pair(), make_issue()
    merge([merged_away], kept, by=None)
    merge([kept], third, by=None)
    merged_away.refresh_from_db()
    assert merged_away.merged_into == third

    with pytest.raises(Refused, match="Undo that first"):
        undo_merge(merged_away, by=None)

    undo_merge(kept, by=None)
    merged_away.refresh_from_db()
    kept.refresh_from_db()
    assert (merged_away.merged_into, kept.merged_into) == (kept, None)
    assert undo_merge(merged_away, by=None).moved == 4
    assert not Merge.objects.filter(undone_at=None).exists()


def test_a_merged_issue_is_sealed_with_the_tests_that_it_gave_away():
    merged_away, kept = make_pair()
    make_test("Secret?", issue=merged_away, sealed=True)
    viewer, reader = make_user("viewer"), make_user("annotator")
    merge([merged_away], kept, by=None)
    late = Comment.objects.create(issue=merged_away, text="Quotes the secret")

    assert not Issue.objects.readable_by(viewer).filter(pk__in=[merged_away.pk, kept.pk]).exists()
    assert not Comment.objects.readable_by(viewer).filter(pk=late.pk).exists()
    assert Issue.objects.readable_by(reader).filter(pk__in=[merged_away.pk, kept.pk]).count() == 2


@pytest.mark.parametrize("written", ["description", "comment", ""])
def test_parting_opens_nothing_that_was_sealed(written):
    merged_away, kept = make_pair()
    make_test("Secret?", issue=merged_away, sealed=True)
    merge(
        [merged_away],
        kept,
        take={"description": merged_away} if written == "description" else {},
        by=None,
    )
    if written == "comment":
        Comment.objects.create(issue=kept, text="Quotes the secret")

    if written:
        with pytest.raises(Refused, match="Seal one of its own tests first"):
            undo_merge(merged_away, by=None)
    else:
        undo_merge(merged_away, by=None)
        told = f"Texts of issue {merged_away.pk}, merged into this one:"
        assert merged_away.comments.filter(text__startswith=told).exists()
        assert not kept.comments.filter(text__startswith=told).exists()


@pytest.mark.parametrize(
    ("role", "state", "may"),
    [
        ("annotator", "draft", True),
        ("annotator", "approved", False),
        ("maintainer", "approved", True),
        ("viewer", "draft", False),
    ],
)
def test_who_merges_an_approved_issue_away_may_approve(role, state, may):
    assert may_merge(make_issue(state=state), make_user(role)) is may
