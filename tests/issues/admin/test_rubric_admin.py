"""The rubric on a test's page, as a form that needs no script, and what is asked around it."""

import pytest

from issues.content.revisions import freeze
from tests.factories import make_issue, make_test
from tests.issues.pages import flashed_text, form_of_a_test, log_in, rubric_form, url

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def annotator(client):
    """Who asks, where a test logs in nobody else."""
    return log_in(client, "annotator")


CONTAINS = {"check_name": "contains_all", "arguments": {"texts": ["a", "b"]}}


def form_of(test, *points, saved=0, **changes):
    """The form of a test with these points; those of saved rows have an id."""
    known = {"issue": test.issue_id, "template": test.template_id, "reference": test.reference}
    known |= {"guidelines": test.guidelines, "prompt": test.messages[0]["content"]}
    return form_of_a_test(**known, **rubric_form(*points, saved=saved)) | changes


def saved_points(test):
    """Return the data that a browser sends for an untouched rubric."""
    points = []
    for row in test.criteria.all():
        form = {
            "id": row.pk,
            "test": test.pk,
            "text": row.text,
            "polarity": row.polarity,
            "weight": row.weight,
            "alternative": row.alternative or "",
            "check_name": row.check_name,
            "citation": row.citation,
            "order": row.order,
        }
        for name, value in row.arguments.items():
            form[f"arg_{name}"] = "\r\n".join(value) if isinstance(value, list) else value
        points.append(form)
    return points


def errors_of(response):
    """Return the errors at the fields of each criterion."""
    rubric = next(f for f in response.context["inline_admin_formsets"] if f.formset.errors)
    return [dict(errors) for errors in rubric.formset.errors]


# Saving ------------------------------------------------------------------------------------------


def test_a_rubric_is_saved_with_its_test(client, annotator):
    issue = make_issue()
    points = (
        {"text": "Names the length", "weight": "2.5", "mandatory": "on"},
        {"text": "Promises a refund", "polarity": "should_not", "alternative": "2"},
        {"check_name": "contains_any", "arg_texts": "1932\r\n1933", "arg_ignore_case": "on"},
    )

    sent = form_of_a_test(issue=issue.pk, **rubric_form(*points))
    client.post(url("test_add"), sent)

    first, second, third = issue.tests.get().criteria.all()
    assert (first.text, first.weight, first.mandatory) == ("Names the length", 2.5, True)
    assert (second.polarity, second.alternative) == ("should_not", 2)
    assert third.arguments == {"texts": ["1932", "1933"], "ignore_case": True}
    assert first.history.get().history_user == annotator


def test_rows_that_were_left_empty_are_no_points_and_a_new_one_without_a_place_comes_last(client):
    test = make_test(criteria=[{"text": "a"}, {"text": "b"}])

    points = (*saved_points(test), {}, {"text": "c", "order": ""}, {"order": ""})
    client.post(url("test_change", test.pk), form_of(test, *points, saved=2))

    assert [row.text for row in test.criteria.all()] == ["a", "b", "c"]


def test_what_nobody_touched_stays_as_it_is(client):
    test = make_test(criteria=[{"text": "one\ntwo", "citation": "a\nb"}, CONTAINS])

    sent = form_of(test, *saved_points(test), saved=2)
    sent["criteria-0-text"] = "one\r\ntwo"
    client.post(url("test_change", test.pk), sent)

    test.refresh_from_db()
    assert [row.history.count() for row in test.criteria.all()] == [1, 1]
    assert test.state == "approved"


def test_points_are_ordered_changed_and_deleted(client):
    test = make_test(criteria=[{"text": "a"}, {"text": "b"}, {"text": "c"}])
    keys = {row.text: row.key for row in test.criteria.all()}
    a, b, c = saved_points(test)

    points = (a | {"order": 3}, b | {"DELETE": "on"}, c | {"text": "c, reworded", "order": 1})
    client.post(url("test_change", test.pk), form_of(test, *points, saved=3))

    rows = list(test.criteria.all())
    assert [(row.text, row.key) for row in rows] == [("c, reworded", keys["c"]), ("a", keys["a"])]


def test_pasted_lines_become_points_when_it_is_saved(client):
    test = make_test(criteria=[{"text": "a"}])

    sent = form_of(test, *saved_points(test), saved=1)
    client.post(
        url("test_change", test.pk),
        sent | {"criteria-pasted": "Names a price\r\nnot: promises a refund"},
    )

    assert [(row.text, row.polarity) for row in test.criteria.all()] == [
        ("a", "should"),
        ("Names a price", "should"),
        ("Promises a refund", "should_not"),
    ]


def test_a_change_of_the_rubric_alone_calls_for_review(client):
    test = make_test(criteria=[{"text": "a"}])
    (point,) = saved_points(test)

    sent = form_of(test, point | {"weight": 2}, saved=1)
    response = client.post(url("test_change", test.pk), sent)

    test.refresh_from_db()
    assert test.state == "in_review"
    assert "This test was approved before your change. It is back in review." in flashed_text(
        response
    )


# What is wrong -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("point", "field", "problem"),
    [
        ({"weight": "3"}, "text", "Enter the criterion, or choose a check."),
        ({"text": "a", "weight": "20"}, "weight", "less than or equal to 10"),
        ({"text": "a", "mandatory": "on", "alternative": "1"}, "mandatory", "cannot be mandatory"),
        ({"check_name": "contains"}, "arg_text", "“text” is missing."),
        (
            {"check_name": "contains_at_least", "arg_texts": "a", "arg_least": "two"},
            "arg_least",
            "“two” is not a whole number.",
        ),
        ({"check_name": "matches", "arg_pattern": "("}, "arg_pattern", "“pattern” is"),
        ({"check_name": "word_count"}, "check_name", "Enter “least”, “most” or both."),
        ({"check_name": "contains_everything"}, "check_name", "Unknown check:"),
        ({"text": "a", "alternative": "many"}, "alternative", "Select a valid choice"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_lost(client, point, field, problem):
    test = make_test()

    sent = form_of(test, {"text": "right"}, point | {"citation": "Page 3"})
    response = client.post(url("test_change", test.pk), sent)

    assert problem in str(errors_of(response)[1][field])
    assert not test.criteria.exists()
    html = response.content.decode()
    assert all(str(value) in html for value in ("right", "Page 3"))


def test_a_point_that_somebody_deleted_meanwhile_is_said(client):
    test = make_test(criteria=[{"text": "a"}, {"text": "b"}])
    points = saved_points(test)
    test.criteria.get(text="b").delete()

    sent = form_of(test, points[0], points[1] | {"text": "b, reworded"}, saved=2)
    response = client.post(url("test_change", test.pk), sent)

    html = response.content.decode()
    assert "Somebody has deleted this criterion" in html
    assert "b, reworded" in html


def test_pasted_lines_survive_an_error(client):
    sent = form_of(make_test(), {"text": "a", "weight": "99"})
    response = client.post(url("test_add"), sent | {"criteria-pasted": "Names a price"})

    assert "Names a price</textarea>" in response.content.decode()


# Who ---------------------------------------------------------------------------------------------


def test_a_viewer_reads_a_rubric_and_has_no_form_of_it(client):
    log_in(client, "viewer")
    test = make_test(criteria=[{"text": "Names a price"}, CONTAINS])

    html = client.get(url("test_change", test.pk)).content.decode()
    response = client.post(url("test_change", test.pk), form_of(test, {"text": "b"}))

    assert "Names a price" in html
    assert "criteria-0-text" not in html
    assert response.status_code == 403
    assert [row.text for row in test.criteria.all()] == ["Names a price", ""]


# The preview -------------------------------------------------------------------------------------


def preview_of(client, *points, **changes):
    sent = form_of(make_test("How long is the bridge?"), *points)
    return client.post(url("test_rubric"), sent | changes)


def figures(response):
    return [(each.name, each.score, passed) for each, passed in response.context["figures"]]


def test_the_preview_shows_what_a_perfect_a_half_and_an_empty_answer_score(client):
    asked, forbidden = {"text": "a"}, {"text": "b", "polarity": "should_not"}

    both = preview_of(client, asked, forbidden)
    one = preview_of(client, asked, forbidden | {"DELETE": "on"}, pass_threshold="0.4")
    unscored = preview_of(client, {"check_name": "js", "arg_source": "1"})

    assert figures(both) == [("Perfect", 1, True), ("Half", 0.5, False), ("Empty", 0.5, False)]
    assert figures(one)[1:] == [("Half", 0.5, True), ("Empty", 0, False)]
    assert "An empty answer passes" in preview_of(client, forbidden).content.decode()
    assert figures(unscored) == [(name, None, None) for name in ("Perfect", "Half", "Empty")]
    assert unscored.context["unscored"] == ["1"]


@pytest.mark.parametrize(
    ("approach", "shows", "hides"),
    [
        ("standard", "Names the length", "How long is the bridge?"),
        ("prompt_aware", "How long is the bridge?", "Gives the year"),
        ("holistic", "- (asked) Names the length", "{{"),
    ],
)
def test_the_preview_shows_what_a_judge_of_each_approach_is_asked(client, approach, shows, hides):
    points = ({"text": "Gives the year"}, {"text": "Names the length"})

    sent = {"preview-asked": "2", "preview-approach": approach}
    prompt = preview_of(client, *points, **sent).context["prompt"]

    assert shows in prompt
    assert hides not in prompt


def test_the_preview_names_what_is_wrong_and_shows_the_rest(client):
    response = preview_of(client, {"text": "a", "weight": "99"}, {"check_name": "contains"})

    assert response.context["problems"] == [
        "Criterion 1: Ensure this value is less than or equal to 10.",
        "Criterion 2: “text” is missing.",
    ]


@pytest.mark.parametrize("sent", [{}, {"criteria-TOTAL_FORMS": "x"}, {"criteria-TOTAL_FORMS": "9"}])
def test_the_preview_of_anything_is_a_page(client, sent):
    assert client.post(url("test_rubric"), sent).status_code == 200


def test_the_judge_prompt_of_a_saved_test_is_shown_for_each_criterion(client):
    log_in(client, "viewer")
    test = make_test(criteria=[{"text": "Names the length"}, CONTAINS])

    asked = client.get(url("test_preview", test.pk))
    checked = client.post(url("test_preview", test.pk), {"preview-asked": "2"})

    assert "## Criterion\nNames the length" in asked.context["prompt"]
    assert "without a judge" in checked.content.decode()


# Lines -------------------------------------------------------------------------------------------


def test_lines_come_back_as_points(client):
    response = client.post(url("test_lines"), {"lines": "a\nnot: b"})

    assert response.json() == {
        "points": [{"text": "A", "polarity": "should"}, {"text": "B", "polarity": "should_not"}]
    }


def test_a_siblings_rubric_is_copied_with_its_judge_run(client):
    sibling = make_test(criteria=[{"text": "a", "weight": 2}, CONTAINS])
    test = make_test(issue=sibling.issue)

    client.post(url("test_copy", test.pk), {"sibling": sibling.pk})

    rows = list(test.criteria.all())
    assert [(row.text, row.weight, row.arguments) for row in rows] == [
        ("a", 2, {}),
        ("", 1, CONTAINS["arguments"]),
    ]
    assert sibling.criteria.count() == 2


def test_a_rubric_is_not_lost_to_a_siblings(client):
    sibling = make_test(criteria=[{"text": "a"}])
    test = make_test(issue=sibling.issue, criteria=[{"text": "b"}])

    response = client.post(url("test_copy", test.pk), {"sibling": sibling.pk})

    assert "has a rubric of its own" in flashed_text(response)[0]
    assert test.criteria.get().text == "b"


# Elsewhere ---------------------------------------------------------------------------------------


def test_the_history_of_a_test_tells_what_became_of_its_points(client):
    test = make_test(criteria=[{"text": "Names a price"}, {"text": "Is brief"}])
    first, second = saved_points(test)
    points = (first | {"weight": 3, "order": 2}, second | {"order": 1})
    client.post(url("test_change", test.pk), form_of(test, *points, saved=2))
    second = second | {"DELETE": "on"}
    client.post(url("test_change", test.pk), form_of(test, first | {"weight": 3}, second, saved=2))

    entries = client.get(url("test_history", test.pk)).context["rubric"]

    actions = [(entry.action, entry.record.text) for entry in entries]
    assert actions[:2] == [("deleted", "Is brief"), ("changed", "Names a price")]
    assert entries[1].changes == [("weight", "1.0", "3.0")]


def test_the_history_of_a_sealed_rubric_is_closed_to_who_may_not_read_it(client):
    log_in(client, "viewer")
    test = make_test(sealed=True, criteria=[{"text": "the secret"}])

    assert client.get(url("test_history", test.pk)).status_code == 404


def test_lists_say_that_a_test_is_judged_by_a_rubric(client):
    log_in(client, "viewer")
    test = make_test(criteria=[{"text": "Names a price"}, {"text": "Is brief"}])

    listed = client.get(url("test_changelist"), {"q": "names a"}).content.decode()
    on_issue = client.get(url("issue_tab", test.issue_id, "tests")).content.decode()

    assert "rubric of 2" in listed
    assert "rubric of 2" in on_issue


def test_a_frozen_rubric_is_read_on_its_revision(client):
    log_in(client, "viewer")
    revision = freeze([make_test(criteria=[{"text": "Names a price", "weight": 2}])])

    html = client.get(url("revision_change", next(iter(revision.values())).pk)).content.decode()

    assert "Names a price" in html
    assert "Weight 2.0" in html


def test_a_new_test_starts_with_its_siblings_rubric(client):
    sibling = make_test(criteria=[{"text": "a", "weight": 2}, CONTAINS])

    page = client.get(url("test_add"), {"issue": sibling.issue_id})

    rubric = page.context["inline_admin_formsets"][0].formset
    assert [form["text"].value() for form in rubric.forms][:2] == ["a", ""]
    assert rubric.forms[1]["arg_texts"].value() == "a\nb"


# Forty points ------------------------------------------------------------------------------------


def test_a_long_rubric_takes_few_queries(client, django_assert_max_num_queries):
    test = make_test(criteria=[{"text": f"Point {n}"} for n in range(40)])
    sent = form_of(test, *saved_points(test), saved=40)

    with django_assert_max_num_queries(25):
        page = client.get(url("test_change", test.pk))
    with django_assert_max_num_queries(20):
        preview = client.post(url("test_rubric"), sent)
    with django_assert_max_num_queries(80):  # two a point that nobody touched
        saved = client.post(url("test_change", test.pk), sent)

    assert b"Point 39" in page.content
    assert b"Point 39" in preview.content
    assert saved.status_code == 302
