"""Tags are renamed and merged; every history tells of it."""

import pytest
from django.core.exceptions import ValidationError

from evalhub.refusals import Refused
from issues.models import Tag
from issues.tags import merge, rename, suggested
from runs.models import Suite
from tests.factories import make_issue, make_user

pytestmark = pytest.mark.django_db


def tag(name, **fields):
    return Tag.objects.create(name=name, **fields)


def test_renaming_keeps_the_old_name_in_the_history():
    row = tag("Maths")
    rename(row, " Math ", by=None)

    assert row.name == "Math"
    assert [old.name for old in row.history.all()] == ["Math", "Maths"]


def test_renaming_to_another_tags_name_asks_for_a_merge():
    tag("Math")

    with pytest.raises(ValidationError, match="Merge the two"):
        rename(tag("Maths"), "math", by=None)


def test_merging_gives_the_target_to_every_issue():
    issue, both = make_issue(tags=("Maths",)), make_issue(tags=("Maths", "Math"))
    target = Tag.objects.get(name="Math")

    merge([Tag.objects.get(name="Maths")], target, by=None)

    assert list(issue.tags.all()) == list(both.tags.all()) == [target]
    assert not Tag.objects.filter(name="Maths").exists()


def test_merging_is_in_the_history_of_each_issue():
    issue, user = make_issue(tags=("Maths",)), make_user()

    merge([Tag.objects.get(name="Maths")], tag("Math"), by=user)

    newest = issue.history.first()
    assert newest.history_user == user
    assert newest.history_change_reason == "Tag Maths merged into Math"
    assert [row.tag.name for row in newest.tags.all()] == ["Math"]


def test_merging_reaches_what_carries_tags_on_higher_floors():
    suite = Suite.objects.create(name="All")
    old, target = tag("Maths"), tag("Math")
    suite.tags.add(old)

    merge([old], target, by=None)

    assert list(suite.tags.all()) == [target]


def test_children_become_the_targets():
    old, target = tag("Maths"), tag("Math")
    child = tag("Geometry", parent=old)

    merge([old], target, by=None)

    child.refresh_from_db()
    assert child.parent == target


def test_a_target_below_a_tag_that_goes_moves_up():
    top = tag("All")
    old = tag("Maths", parent=top)
    target = tag("Math", parent=old)

    merge([old], target, by=None)

    target.refresh_from_db()
    assert target.parent == top


def test_merging_a_tag_into_itself_is_refused():
    row = tag("Math")

    with pytest.raises(Refused, match="besides Math"):
        merge([row], row, by=None)


# Suggesting --------------------------------------------------------------------------------------


def names(suggestions):
    return [one.tag.name for one in suggestions]


def test_tags_of_the_nearest_issues_are_suggested_by_how_near_they_are():
    near, far = make_issue(tags=("Money",)), make_issue(tags=("Dates", "Tools"))
    further = make_issue(tags=("Dates",))

    found = suggested("a text", {near.pk: 0.5, far.pk: 0.29, further.pk: 0.25})

    assert names(found) == ["Dates", "Money"]
    assert found[0].why == "on 2 similar issues"


def test_a_tag_whose_name_is_in_the_text_is_suggested():
    Tag.objects.create(name="Date arithmetic")
    Tag.objects.create(name="Date of birth")

    (found,) = suggested("The arithmetic of dates is wrong.", {})

    assert (found.tag.name, found.why) == ("Date arithmetic", "named in the text")


def test_nothing_is_suggested_for_a_text_without_words():
    Tag.objects.create(name="…")

    assert suggested("", {}) == []
