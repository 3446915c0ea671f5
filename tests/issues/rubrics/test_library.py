"""The criterion library: what ships, versions, updates, copies, drafts, import."""

import json
from collections import Counter

import pytest
from django.core.exceptions import ValidationError

from evalhub.refusals import Refused
from issues.checks import Material, run
from issues.models import JudgeTemplate, LibraryCriterion, Polarity
from issues.models.library import content_of
from issues.rubrics.library import entries
from issues.rubrics.library.builtin import builtin_criteria, load_builtin_criteria
from issues.rubrics.library.content import EXAMPLE_FIELDS, ROLES, problems_of
from issues.rubrics.library.exchange import ImportRefused, import_criteria
from issues.rubrics.scales import from_json
from tests.factories import make_test, make_user

pytestmark = pytest.mark.django_db
SHIPPED = builtin_criteria()
CHECKED = [(key, c) for key, c in SHIPPED if c["check"] not in ("", "tool_call_count")]


def library(key="answers-the-question"):
    return LibraryCriterion.objects.get(key=key)


def changed(row, **fields):
    for name, value in fields.items():
        setattr(row, name, value)
    row.save()
    return row


# What ships --------------------------------------------------------------------------------------


def test_there_are_enough_criteria_on_each_shelf_and_no_two_alike():
    direct = Counter(content["shelf"] for _, content in SHIPPED if content["kind"] == "direct")
    least = {"quality": 10, "safety": 8, "style": 6, "grounding": 5, "reasoning": 6}

    assert direct.total() >= 40
    assert all(direct[shelf] >= n for shelf, n in (least | {"summarisation": 5}).items())
    assert sum(content["kind"] == "pairwise" for _, content in SHIPPED) >= 6
    for values in zip(*((key, c["name"], c["question"]) for key, c in SHIPPED), strict=True):
        assert [value for value, n in Counter(values).items() if n > 1] == []
    assert set(EXAMPLE_FIELDS) >= {n for _, c in SHIPPED for e in c["examples"].values() for n in e}


@pytest.mark.parametrize(("key", "content"), SHIPPED, ids=[key for key, _ in SHIPPED])
def test_each_is_valid_and_complete(key, content):
    assert problems_of(content) == {}
    assert set(content["examples"]) == set(ROLES)
    assert content["question"].endswith("?")
    assert content["description"]
    assert content["tags"]
    assert all(example["why"] for example in content["examples"].values())
    if content["kind"] == "direct":
        options = from_json(content["scale"]).options
        assert 2 <= len(options) <= 5
        assert all(option.description for option in options)
        best = max(options, key=lambda option: option.value)
        assert content["examples"]["passing"]["option"] == best.label


@pytest.mark.parametrize(("key", "content"), CHECKED, ids=[key for key, _ in CHECKED])
def test_the_examples_of_checks_are_decided_so_by_the_check(key, content):
    values = {option.label: option.value for option in from_json(content["scale"]).options}
    for example in content["examples"].values():
        outcome = run(content["check"], content["arguments"], Material(example["answer"]))
        assert (outcome.value == 1) == (values[example["option"]] == 1), example


# Contents ----------------------------------------------------------------------------------------


def test_problems_name_the_field_and_the_value():
    content = dict(SHIPPED[0][1])
    content["examples"] = {
        "passing": {"answer": "x", "option": "Nope"},
        "failing": {"answer": "", "option": content["examples"]["passing"]["option"]},
        "middle": {},
        "borderline": {"answer": "x", "colour": "red", "option": ""},
    }

    found = problems_of(content | {"tags": "a", "arguments": {"x": 1}})

    assert found["tags"] == ["Tags are a list of texts, not 'a'."]
    assert found["arguments"] == ["Only a check takes arguments."]
    said = " ".join(found["examples"])
    for part in ("'Nope' is not one of", "answer is empty", "no example 'middle'", "'colour'"):
        assert part in said
    assert "does not fail on this scale" in said


# Versions and updates ----------------------------------------------------------------------------


def test_a_change_makes_a_version_and_keeps_the_old_one():
    row = changed(library(), question="Is it an answer?")
    changed(row, state="retired")

    assert row.version == 2
    first = row.history.filter(version=1).get()
    assert (first.question, first.history_change_reason) == (
        dict(SHIPPED)[row.key]["question"],
        "Version 1: shipped with EvalHub",
    )


def test_a_second_load_changes_nothing():
    assert load_builtin_criteria() == Counter()


def test_an_update_upgrades_what_nobody_changed():
    row = library()
    newer = content_of(row) | {"name": "Newer"}

    assert load_builtin_criteria(shipped=[(row.key, newer)]) == {"upgraded": 1}

    row.refresh_from_db()
    assert (row.name, row.version, row.is_changed) == ("Newer", 2, False)
    assert set(row.history.values_list("version", flat=True)) == {1, 2}


@pytest.mark.parametrize("takes_over", [True, False])
def test_an_update_of_a_changed_criterion_is_a_proposal(takes_over):
    row = library()
    shipped = [(row.key, content_of(row) | {"name": "Newer"})]
    changed(row, name="Ours")

    first, second = (load_builtin_criteria(shipped=shipped) for _ in range(2))
    row.refresh_from_db()
    assert (first, second, row.name) == ({"proposed": 1}, Counter(), "Ours")

    entries.decide_proposal(row, takes_over=takes_over, by=make_user("maintainer"))
    row.refresh_from_db()
    assert (row.name, row.proposal) == ("Newer" if takes_over else "Ours", None)
    assert row.is_changed is not takes_over
    assert load_builtin_criteria(shipped=shipped) == Counter()


def test_a_criterion_of_the_team_with_the_same_key_is_never_overwritten():
    row = entries.add(
        LibraryCriterion(key="ours", name="Ours", shelf="style", question="Is it ours?"),
        by=make_user("annotator"),
    )

    load_builtin_criteria(shipped=[("ours", SHIPPED[0][1])])

    row.refresh_from_db()
    assert (row.name, row.proposal) == ("Ours", SHIPPED[0][1])


# Uses --------------------------------------------------------------------------------------------


def test_a_copy_remembers_where_it_is_from_and_is_counted_once_a_test():
    user, row = make_user("maintainer"), library("demeans-people")
    test, other = make_test(), make_test(sealed=True)
    entries.copy_to_rubric([row, row], test, by=user)
    entries.copy_to_rubric([row], other, by=user)

    copy = test.criteria.first()
    assert (copy.text, copy.polarity) == (row.question, Polarity.SHOULD_NOT)
    assert (copy.library_key, copy.library_version) == ("demeans-people", 1)
    counted = {
        role: entries.with_uses(LibraryCriterion.objects.all(), make_user(role)).get(pk=row.pk)
        for role in ("viewer", "maintainer")
    }
    assert {role: row.tests_total for role, row in counted.items()} == {
        "viewer": 1,
        "maintainer": 2,
    }


@pytest.mark.parametrize("key", ["better-tone", "user-jailbreak", "documents-fit-the-question"])
def test_rubrics_take_only_criteria_about_the_answer(key):
    test = make_test()

    with pytest.raises(Refused, match="cannot be in a rubric"):
        entries.copy_to_rubric([library(key)], test, by=make_user("maintainer"))
    assert not test.criteria.exists()


@pytest.mark.parametrize("key", [key for key, c in SHIPPED if c["kind"] == "direct"])
def test_each_direct_criterion_becomes_a_template_that_can_be_published(key):
    from issues.judge_templates.lifecycle import publish

    user, row = make_user("maintainer"), library(key)
    draft = entries.draft_template(row, by=user)

    assert row.question in draft.text
    assert (draft.scale, draft.examples.count()) == (row.scale, 3)
    with pytest.raises(Refused, match="draft already"):
        entries.draft_template(row, by=user)
    publish(draft, by=user)
    assert entries.draft_template(row, by=user).version == 2


def test_a_pairwise_criterion_becomes_no_template_and_has_no_options():
    row = library("better-tone")
    with pytest.raises(Refused, match="compares two answers"):
        entries.draft_template(row, by=make_user("maintainer"))
    assert not JudgeTemplate.objects.filter(family__startswith="criterion-").exists()
    row.scale = library().scale
    with pytest.raises(ValidationError, match="has no options"):
        row.full_clean()


def test_pairwise_criteria_are_the_current_ones():
    changed(library("better-tone"), state="retired")

    keys = set(entries.pairwise_criteria().values_list("key", flat=True))
    assert "better-facts" in keys
    assert "better-tone" not in keys


def test_a_rubrics_criterion_is_saved_with_the_best_option_first_class():
    test = make_test(criteria=[{"text": "Insults people", "polarity": "should_not"}])
    user = make_user("annotator")

    row = entries.entry_from_criterion(test.criteria.get(), by=user, shelf="safety")
    again = entries.entry_from_criterion(test.criteria.get(), by=user)

    assert (row.key, again.key, row.author) == ("insults-people", "insults-people-2", user)
    values = {option["label"]: option["value"] for option in row.scale["options"]}
    assert (values["UNMET"], values["FULLY_MET"]) == (1, 0)


def test_criteria_of_sealed_tests_stay_in_them():
    test = make_test(sealed=True, criteria=[{"text": "Secret"}])

    with pytest.raises(Refused, match="sealed"):
        entries.entry_from_criterion(test.criteria.get(), by=make_user("annotator"))


# Import ------------------------------------------------------------------------------------------


def text_of(*rows):
    return json.dumps(rows)


def test_an_import_adds_changes_and_leaves_alone():
    row, user = library(), make_user("annotator")
    content = content_of(row)
    own = content | {"name": "New"}

    done = import_criteria(
        text_of(
            content | {"key": row.key, "version": 7, "id": 1},
            content_of(library("better-tone")) | {"key": "better-tone", "name": "Tone"},
            own,
        ),
        by=user,
    )

    assert done == {"unchanged": 1, "changed": 1, "added": 1}
    assert (library("new").author, library("better-tone").version) == (user, 2)


def test_an_import_with_a_mistake_saves_nothing_and_names_all():
    content = content_of(library())

    with pytest.raises(ImportRefused) as raised:
        import_criteria(
            text_of(
                content | {"name": "Fine"},
                content | {"key": "x y"},
                content | {"key": "odd", "colour": 1, "scale": {"options": []}},
                {"key": "half", "name": "Half"},
                3,
            ),
            by=make_user("annotator"),
        )

    said = "\n".join(map(str, raised.value.problems))
    assert "Criterion 2 (x y)" in said
    assert "Criterion 3 (odd): Unknown field 'colour'" in said
    assert "Criterion 4 (half): “shelf” is missing." in said
    assert "Criterion 5: It is not an object: '3'." in said
    assert not LibraryCriterion.objects.filter(name="Fine").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", "[" * 60 + "]" * 60])
def test_what_is_no_list_of_criteria_is_refused(text):
    with pytest.raises(ImportRefused, match=r"^File: "):
        import_criteria(text, by=make_user("annotator"))
