"""The criterion library through the API."""

import pytest

from issues.models import LibraryCriterion
from issues.rubrics.library import entries
from tests.api import client_of, problems_in
from tests.factories import make_test, make_user

pytestmark = pytest.mark.django_db

URL = "/api/v1/criteria-library/"
NEW = {"name": "Names a price", "shelf": "quality", "question": "Does it name a price?"}


@pytest.fixture
def script():
    return client_of(make_user("annotator"))


def first(script, **query):
    return script.get(URL, query).json()["results"][0]


def test_what_is_read_can_be_sent_to_make_another(script):
    shown = first(script, key="supported-by-documents")
    made = script.post(URL, shown | {"key": "copy", "name": "Copy"}, format="json")

    assert made.status_code == 201, made.json()
    row = LibraryCriterion.objects.get(key="copy")
    assert (row.version, row.is_builtin, row.author.username) == (1, False, made.json()["author"])
    assert row.examples == shown["examples"]


def test_a_key_is_made_of_the_name(script):
    keys = [script.post(URL, NEW, format="json").json()["key"] for _ in range(2)]

    assert keys == ["names-a-price", "names-a-price-2"]


def test_a_change_makes_a_version_that_can_be_read_beside_the_old(script):
    shown = first(script, key="profanity")
    script.patch(f"{URL}{shown['id']}/", {"question": "Does it swear?"}, format="json")

    versions = script.get(f"{URL}{shown['id']}/versions/").json()
    assert [row["version"] for row in versions] == [2, 1]
    assert [row["content"]["question"] for row in versions] == ["Does it swear?", shown["question"]]
    assert versions[0]["by"]
    assert versions[1]["reason"] == "Version 1: shipped with EvalHub"


def test_mistakes_are_named_with_their_field(script):
    wrong = NEW | {"shelf": "attic", "colour": "red"}
    odd = NEW | {"examples": {"passing": {"answer": "x", "option": "Maybe"}}}

    assert problems_in(script.post(URL, wrong, format="json")).keys() >= {"colour"}
    assert "'Maybe' is not one of Yes, No" in str(script.post(URL, odd, format="json").json())
    known = script.post(URL, NEW | {"key": "empathy"}, format="json")
    assert "PATCH it instead" in str(known.json())
    shown = first(script, key="empathy")
    moved = script.patch(f"{URL}{shown['id']}/", {"key": "other"}, format="json")
    assert "never changes" in str(moved.json())


def test_it_is_filtered_by_words_shelf_and_kind(script):
    pairs = script.get(URL, {"kind": "pairwise"}).json()["results"]
    cited = script.get(URL, {"q": "CITATION passage"}).json()["results"]

    assert {row["scale"] for row in pairs} == {None}
    assert [row["key"] for row in cited] == ["citations-support-their-sentences"]
    assert script.get(URL, {"is_builtin": "false"}).json()["results"] == []


def test_uses_are_counted_and_a_rubric_sent_back_keeps_its_origin(script):
    test = make_test()
    row = LibraryCriterion.objects.get(key="empathy")
    entries.copy_to_rubric([row], test, by=make_user("maintainer"))
    url = f"/api/v1/tests/{test.pk}/"

    sent = [criterion | {"weight": 2} for criterion in script.get(url).json()["criteria"]]
    assert script.patch(url, {"criteria": sent}, format="json").status_code == 200

    copy = test.criteria.get()
    assert (copy.weight, copy.library_key, copy.library_version) == (2, "empathy", 1)
    assert first(script, key="empathy")["tests"] == 1


def test_a_retired_criterion_is_restored():
    script = client_of(make_user("maintainer"))
    shown = first(script, key="empathy")

    states = [
        script.post(f"{URL}{shown['id']}/{act}/").json()["state"] for act in ("retire", "restore")
    ]
    assert states == ["retired", "current"]
    assert first(script, key="empathy")["version"] == 1
