"""Rubrics through the API: written as whole lists, read in tests and revisions."""

import pytest

from issues.checks import CHECKS
from issues.content.revisions import freeze
from tests.api import QUERIES_OF_A_WATERMARK, client_of, problems_in
from tests.factories import make_issue, make_test

pytestmark = pytest.mark.django_db

ASKED = [{"role": "user", "content": "How long is the bridge?"}]
CRITERIA = [
    {"text": "Names the length", "key": "length", "weight": 2},
    {"text": "Promises a refund", "polarity": "should_not"},
    {"check": "contains", "arguments": {"text": "1,280"}, "citation": "The plan, page 3"},
]


def send(test, criteria, role="annotator"):
    return client_of(role).patch(f"/api/v1/tests/{test.pk}/", {"criteria": criteria})


def test_a_test_is_made_with_its_rubric():
    body = {"issue": make_issue().pk, "messages": ASKED, "criteria": CRITERIA}

    response = client_of("annotator").post("/api/v1/tests/", body)

    assert response.status_code == 201, response.content
    assert response.json()["criteria"] == [
        {
            "key": point["key"],
            "text": sent.get("text", ""),
            "polarity": sent.get("polarity", "should"),
            "weight": sent.get("weight", 1),
            "alternative": None,
            "mandatory": False,
            "check": sent.get("check", ""),
            "arguments": sent.get("arguments", {}),
            "citation": sent.get("citation", ""),
        }
        for sent, point in zip(CRITERIA, response.json()["criteria"], strict=True)
    ]
    assert response.json()["criteria"][0]["key"] == "length"


def test_a_rubric_is_replaced_and_known_keys_keep_their_rows():
    test = make_test(criteria=[{"text": "a", "key": "a"}, {"text": "b", "key": "b"}])
    kept = test.criteria.get(key="b")

    send(test, [{"text": "b, reworded", "key": "b"}, {"text": "c"}])

    rows = list(test.criteria.all())
    assert [row.text for row in rows] == ["b, reworded", "c"]
    assert rows[0].pk == kept.pk


def test_what_is_sent_back_as_it_was_read_changes_nothing():
    test = make_test(criteria=[{"text": "a"}, {"text": "b", "polarity": "should_not"}])
    read = client_of("viewer").get(f"/api/v1/tests/{test.pk}/").json()["criteria"]

    send(test, read)

    test.refresh_from_db()
    assert [row.history.count() for row in test.criteria.all()] == [1, 1]
    assert test.state == "approved"


def test_a_test_without_criteria_in_the_request_keeps_its_rubric():
    test = make_test(criteria=[{"text": "a"}])

    client_of("annotator").patch(f"/api/v1/tests/{test.pk}/", {"note": "seen"})

    assert test.criteria.count() == 1


def test_a_rewritten_rubric_calls_for_review():
    test = make_test()

    send(test, [{"text": "New"}])

    test.refresh_from_db()
    assert test.state == "in_review"
    assert test.criteria.get().history.get().history_user is not None


def test_what_is_wrong_is_named_by_the_criterions_place():
    wrong = [
        {"text": "right"},
        {"text": "too heavy", "weight": 20},
        {"check": "contains", "arguments": {}},
        {"check": "contains_everything", "arguments": {}},
        {"text": "both", "mandatory": True, "alternative": 1},
        {"text": " ", "check": ""},
        "a text",
        None,
    ]

    response = send(make_test(), wrong)

    assert response.status_code == 400
    assert problems_in(response) == {
        "criteria[1].weight": ["Ensure this value is less than or equal to 10."],
        "criteria[2].arguments": ["“text” is missing."],
        "criteria[3].arguments": ["Unknown check: “contains_everything”."],
        "criteria[4]": ["A criterion in an alternative cannot be mandatory."],
        "criteria[5]": ["Enter the criterion, or choose a check."],
        "criteria[6]": ["Invalid data. Expected a dictionary, but got str."],
        "criteria[7]": ["This field may not be null."],
    }


@pytest.mark.parametrize(
    ("criteria", "problem"),
    [
        ([{"text": "a", "key": "k"}, {"text": "b", "key": "k"}], "Two criteria have the key 'k'."),
        ([{"text": "a"}] * 301, "A rubric has at most 300 criteria, not 301."),
        ([{"text": "a", "key": "no spaces"}], "criteria[0].key:"),
        ([{"text": "a", "arguments": {"text": "b"}}], "Only a check takes arguments."),
    ],
)
def test_a_rubric_that_cannot_be_is_refused(criteria, problem):
    response = send(make_test(), criteria)

    assert response.status_code == 400
    assert problem in response.json()["detail"]


def test_frozen_criteria_stand_in_the_revision():
    test = make_test(criteria=[{"text": "a", "weight": 2}, {"check_name": "is_json"}])
    revision = freeze([test])[test.pk]

    shown = client_of("viewer").get(f"/api/v1/revisions/{revision.pk}/").json()["criteria"]

    assert [(row["text"], row["weight"], row["check"]) for row in shown] == [
        ("", 1, ""),
        ("a", 2, ""),
        ("", 1, "is_json"),
    ]


def test_a_list_of_tests_takes_the_same_number_of_queries(django_assert_max_num_queries):
    client = client_of("viewer")
    for _ in range(8):
        make_test(criteria=[{"text": "a"}, {"text": "b"}])

    with django_assert_max_num_queries(9 + QUERIES_OF_A_WATERMARK):
        answer = client.get("/api/v1/tests/")

    assert len(answer.json()["results"]) == 8


def test_checks_are_listed_with_their_arguments():
    listed = client_of("viewer").get("/api/v1/checks/").json()

    assert [check["name"] for check in listed] == list(CHECKS)
    named = {check["name"]: check for check in listed}
    assert named["contains"]["arguments"]["required"] == ["text"]
    assert (named["js"]["can_run"], named["js"]["reason"] != "") == (False, True)
