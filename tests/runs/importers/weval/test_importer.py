"""Import of blueprints: an issue with its tests, a suite, and a second import."""

from dataclasses import replace
from pathlib import Path

import pytest

from issues.content.revisions import freeze
from issues.models import Criterion, Issue, Tag, Test, TestState
from runs.importers.weval.blueprint.records import Blueprint, Point, Prompt
from runs.importers.weval.export import export
from runs.importers.weval.importer import Loaded, import_blueprint
from runs.models import Jury, Suite
from tests.factories import make_model, make_test, make_user
from tests.runs.importers.weval.blueprints_in_text import blueprint_of

pytestmark = pytest.mark.django_db

WHOLE = (Path(__file__).parent / "blueprints" / "whole.yml").read_text()
COLLECTIONS = {"SMALL": ["openai:small-one", "openrouter:developer/small-two"]}
ASKED = [{"role": "user", "content": "Hi"}]


def load(blueprint: Blueprint | None = None, **switches) -> Loaded:
    return import_blueprint(blueprint or blueprint_of(WHOLE), COLLECTIONS, **switches)


def sample(*points: Point | str, **fields) -> Blueprint:
    """A blueprint of one prompt."""
    rubric = tuple(Point(point) if isinstance(point, str) else point for point in points)
    prompt = Prompt("p", ASKED, points=rubric, **fields)
    return Blueprint("sample", "Sample", prompts=(prompt,))


def the_test() -> Test:
    return Test.objects.get(source_id="weval:sample:p")


def history_length() -> int:
    return sum(model.history.count() for model in (Issue, Test, Criterion, Suite, Jury, Tag))


# What a blueprint becomes ------------------------------------------------------------------------


def test_a_blueprint_becomes_one_issue_with_its_tests_and_one_suite():
    Tag.objects.create(name="Fairness")
    person = make_user("maintainer")
    suite = load(by=person).suite

    issue = Issue.objects.get(source_id="weval:sample")
    assert (issue.title, issue.state) == ("Lending a bicycle", "in_review")
    assert issue.tests.count() == 2
    assert set(suite.tests.all()) == set(issue.tests.all())
    for tagged in (issue, suite):
        names = ["Fairness", "_sample", "everyday-law"]
        assert sorted(tag.name for tag in tagged.tags.all()) == names
    assert list(issue.sources.values_list("kind", "value")) == [
        ("general", "Weval blueprint sample"),
        ("url", "https://ledger.example/shed"),
    ]
    first, second = Test.objects.order_by("pk")
    assert (first.weight, first.note) == (2, "A plain request, with two good ways to meet it.")
    assert [(m["role"], m["content"] is None) for m in second.messages][1:3] == [
        ("user", False),
        ("assistant", True),
    ]
    for model in (Criterion, Test):
        assert {row.history_user for row in model.history.all()} == {person}
    criteria = Test.objects.get(source_id="weval:sample:ask-for-it-back").criteria
    rows = criteria.values_list("polarity", "alternative", "weight", "check_name")
    assert list(rows) == [
        ("should", None, 3, ""),
        ("should", None, 0.5, ""),
        ("should", None, 1, "contains"),
        ("should", 1, 1, ""),
        ("should", 1, 1, "word_count"),
        ("should", 2, 1, ""),
        ("should", 2, 2, "matches"),
        ("should_not", None, 1, ""),
        ("should_not", None, 1, "contains_any"),
        ("should_not", 1, 1, ""),
        ("should_not", 2, 1, ""),
    ]
    assert export(suite).blueprint == blueprint_of(WHOLE)


def test_a_test_with_only_an_ideal_answer_is_judged_as_a_whole_against_it():
    load(sample(reference="Ho"))

    test = the_test()
    assert test.template.family == "input-output-reference-guidelines"
    assert "reference answer" in test.guidelines


def test_tools_are_offered_to_the_model_as_functions():
    tool = {"name": "search", "description": "Search.", "schema": {"type": "object"}}
    load(replace(sample("greets"), tools=(tool,)))

    assert the_test().tools == [
        {
            "type": "function",
            "function": {
                "name": "search",
                "description": "Search.",
                "parameters": {"type": "object"},
            },
        }
    ]


def test_tests_wait_for_review_unless_they_are_approved_then_or_later():
    def states():
        return {row.state for row in (*Test.objects.all(), *Issue.objects.all())}

    assert load(dry_run=True).counts.new == 2
    assert (Issue.objects.exists(), Suite.objects.exists()) == (False, False)
    load()
    assert states() == {"in_review"}
    assert load(approve=True).is_changed
    assert Test.objects.filter(state=TestState.APPROVED).count() == 2
    load(replace(blueprint_of(WHOLE), id="other"), approve=True)
    assert states() == {"approved"}


# Models, system prompts, judges ------------------------------------------------------------------


def test_models_and_judges_that_are_not_here_are_kept_by_name_and_noted():
    make_model(litellm_model="openai/small-one", is_active=False)
    make_model(litellm_model="openai/judge-one")
    loaded = load()

    assert "models" not in loaded.suite.defaults
    assert loaded.suite.extras["names"] == COLLECTIONS["SMALL"]
    assert not Jury.objects.exists()
    for note in (
        "these models do not exist here: openai:small-one, openrouter:developer/small-two.",
        "no jury is created, for these judges are not models here: openai:judge-two.",
    ):
        assert note in loaded.notes


def test_models_and_judges_that_are_here_are_linked_once():
    models = {
        name: make_model(litellm_model=f"openai/{name}", name=name)
        for name in ("judge-one", "judge-two", "small-one")
    }
    suite = load().suite

    jury = Jury.objects.get(pk=suite.defaults.pop("jury"))
    assert suite.defaults == {
        "models": [models["small-one"].pk],
        "system_prompts": ["", "You answer people who share a shed. Be brief."],
        "temperatures": [0.0, 0.7],
    }
    assert sorted((j.language_model.name, j.approach) for j in jury.judges.all()) == [
        ("judge-one", "prompt_aware"),
        ("judge-two", "holistic"),
    ]
    before = history_length()
    loaded = load()
    assert not loaded.is_changed
    assert loaded.counts == (0, 0, 2, 0)
    assert history_length() == before
    assert export(Suite.objects.get()).blueprint == blueprint_of(WHOLE)


def test_a_model_is_found_by_its_address_name_or_identity(subtests):
    for fields in (
        {"litellm_model": "openrouter/developer/small-two"},
        {"litellm_model": "developer/small-two"},
        {"identity": "small-two"},
        {"name": "openrouter:developer/small-two"},
        {"name": "Small-Two"},
    ):
        with subtests.test(**fields):
            model = make_model(**fields)
            assert load().suite.defaults["models"] == [model.pk]
            Suite.objects.all().delete()
            model.delete()


def test_a_collection_that_is_not_there_is_noted():
    loaded = import_blueprint(sample("greets"), {})

    assert loaded.notes == ["there is no collection of models CORE beside it."]


# Again -------------------------------------------------------------------------------------------


def test_a_changed_blueprint_changes_its_test_and_makes_a_new_revision():
    load(sample("greets"), approve=True)
    Test.objects.update(note="Checked by Ana.")
    load(sample("greets"), approve=True)
    assert the_test().note == "Checked by Ana."  # as the blueprint is the same
    before = freeze([the_test()])
    load(sample("greets", "thanks"))
    after = freeze([the_test()])

    assert the_test().state == "in_review"  # again, as it was changed
    assert [c.text for c in the_test().criteria.all()] == ["greets", "thanks"]
    assert list(before.values()) != list(after.values())


def test_criteria_that_stay_keep_their_keys():
    load(sample("greets", "thanks", "leaves"))
    before = dict(the_test().criteria.values_list("text", "key"))
    load(sample("leaves", Point("thanks", weight=2), "waits"))
    after = dict(the_test().criteria.values_list("text", "key"))

    assert list(after) == ["leaves", "thanks", "waits"]
    assert (after["leaves"], after["thanks"]) == (before["leaves"], before["thanks"])
    assert after["waits"] not in before.values()


def test_equal_criteria_keep_a_key_each():
    load(sample("greets", "greets"))
    keys = set(the_test().criteria.values_list("key", flat=True))
    load(sample("greets", "greets", "thanks"))

    assert keys < set(the_test().criteria.values_list("key", flat=True))


def test_a_test_that_the_blueprint_no_longer_holds_leaves_the_suite_until_it_comes_back():
    own = make_test()
    load(approve=True).suite.tests.add(own)
    whole = blueprint_of(WHOLE)
    loaded = load(replace(whole, prompts=whole.prompts[:1]), approve=True)

    gone = Test.objects.get(source_id="weval:sample:it-comes-back-damaged")
    assert gone.state == "deprecated"
    assert gone not in loaded.suite.tests.all()
    assert loaded.counts == (0, 0, 1, 1)
    loaded = load()
    assert loaded.counts == (0, 1, 1, 0)
    assert Test.objects.get(pk=gone.pk).state == "in_review"
    assert own in loaded.suite.tests.all()  # as people put it there


def test_another_blueprint_with_the_same_title_has_a_suite_of_its_own():
    load(sample("greets"))
    loaded = load(replace(sample("greets"), id="other"))

    assert loaded.suite.name == "Sample (other)"
