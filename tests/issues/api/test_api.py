"""Issues, tests, tags, feedback and templates through the API."""

import pytest
from django.contrib.auth.models import Permission

from issues.content.revisions import freeze
from issues.models import Feedback, Issue, JudgeTemplate, ResolutionLabel, Tag, Test, TestState
from tests.api import client_of, ids, problems_in
from tests.factories import make_issue, make_template, make_test, make_user

pytestmark = pytest.mark.django_db

ASKED = [{"role": "user", "content": "How many e in tree?"}]


# Feedback ----------------------------------------------------------------------------------------


def test_an_application_sends_feedback_and_gets_its_number():
    client = client_of("annotator")

    response = client.post(
        "/api/v1/feedback/",
        {"prompt": "How tall?", "answer": "Blue.", "rating": "down", "raw": {"session": 7}},
    )

    feedback = Feedback.objects.get()
    assert (response.status_code, response.json()["id"]) == (201, feedback.pk)
    assert (feedback.rating, feedback.raw, feedback.state) == ("down", {"session": 7}, "new")
    assert feedback.received_by is not None


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({"prompt": "x" * 200_001}, "prompt", "no more than 200000 characters"),
        ({"comment": "x", "raw": {"a": "x" * 500_000}}, "raw", "limit is 500000"),
        ({"comment": "x", "raw": [1]}, "raw", "Send an object"),
        ({"comment": "x", "rating": "sideways"}, "rating", '"sideways" is not a valid choice'),
        ({"prompt": " "}, "", "Send a prompt"),
        ({"model": "heron"}, "", "Send a prompt"),
    ],
)
def test_feedback_that_cannot_be_taken_is_explained(body, field, words):
    response = client_of("annotator").post("/api/v1/feedback/", body)

    assert response.status_code == 400
    assert words in str(problems_in(response)[field])
    assert not Feedback.objects.exists()


def test_two_applications_may_count_alike():
    client, rows = client_of("annotator"), []
    for source in ("app one", "app two"):
        body = {"comment": f"Wrong in {source}.", "source": source, "source_id": "1"}
        rows.append(client.post("/api/v1/feedback/", body))
    batch = [{"comment": "x", "source": source, "source_id": "2"} for source in ("a", "b")]
    both = client.post("/api/v1/feedback/batch/", {"feedback": batch})

    assert [row.status_code for row in rows] == [201, 201]
    assert both.json()["added"] == 2
    assert Feedback.objects.count() == 4


def test_triage_changes_what_becomes_of_feedback_and_not_what_was_said():
    feedback = Feedback.objects.create(comment="Wrong.")
    issue = make_issue()

    response = client_of("annotator").patch(
        f"/api/v1/feedback/{feedback.pk}/",
        {"state": "accepted", "issue": issue.pk, "comment": "Wrong."},
    )

    feedback.refresh_from_db()
    assert response.status_code == 200
    assert (feedback.state, feedback.issue, feedback.comment) == ("accepted", issue, "Wrong.")


# Issues ------------------------------------------------------------------------------------------


def test_an_issue_is_made_with_tags_and_sources():
    Tag.objects.create(name="letters")
    user = make_user("annotator")

    response = client_of(user).post(
        "/api/v1/issues/",
        {
            "title": "Miscounts letters",
            "tags": ["letters"],
            "assignee": user.username,
            "sources": [{"kind": "github", "value": "https://github.example/1"}],
            "state": "draft",
        },
    )

    issue = Issue.objects.get()
    assert response.status_code == 201
    assert (issue.state, issue.author, issue.assignee) == ("draft", user, user)
    assert [tag.name for tag in issue.tags.all()] == ["letters"]
    assert [source.value for source in issue.sources.all()] == ["https://github.example/1"]


def test_assignees_and_tags_that_cannot_be_are_refused_by_name():
    make_user("viewer", username="vera")
    sent = {"title": "x", "assignee": "vera", "tags": ["nope"]}

    response = client_of("annotator").post("/api/v1/issues/", sent)

    assert response.status_code == 400
    assert "nope" in problems_in(response)["tags"][0]
    del sent["tags"]
    problems = problems_in(client_of("annotator").post("/api/v1/issues/", sent))
    assert "cannot be assigned to vera." in problems["assignee"][0]


def test_an_unknown_field_is_refused_at_any_depth_and_what_was_read_can_be_sent_back():
    client, issue = client_of("annotator"), make_issue()
    read = client.get(f"/api/v1/issues/{issue.pk}/").json()

    typo = client.patch(f"/api/v1/issues/{issue.pk}/", read | {"severty": "high"})
    nested = {"kind": "github", "value": "https://github.example/1", "titel": "x"}
    deep = client.patch(f"/api/v1/issues/{issue.pk}/", read | {"sources": [nested]})

    assert typo.status_code == deep.status_code == 400
    assert "Unknown field 'severty'" in problems_in(typo)["severty"][0]
    assert "severity" in problems_in(typo)["severty"][0]
    assert "Unknown field 'titel'" in problems_in(deep)["sources[0].titel"][0]
    assert client.patch(f"/api/v1/issues/{issue.pk}/", read).status_code == 200


def test_a_change_of_an_issue_stands_in_its_history_with_who_made_it():
    issue = make_issue()
    user = make_user("annotator")

    client_of(user).patch(f"/api/v1/issues/{issue.pk}/", {"severity": "high"})

    record = issue.history.first()
    assert (record.severity, record.history_user) == ("high", user)


def test_everything_that_is_missing_for_review_is_told_at_once():
    issue = make_issue(state="draft")
    client = client_of("annotator")

    readiness = client.get(f"/api/v1/issues/{issue.pk}/readiness/").json()
    response = client.post(f"/api/v1/issues/{issue.pk}/move/", {"move": "review"})

    assert len(readiness["problems"]) == 3
    assert readiness["moves"] == ["review"]
    assert (response.status_code, response.json()["code"]) == (409, "conflict")
    assert problems_in(response)[""][1:] == readiness["problems"]


def test_an_issue_takes_its_tests_along_as_on_its_page():
    issue = make_issue(state="draft", description="What goes wrong.")
    issue.sources.create(value="seen")
    test = make_test(issue=issue, state="draft")
    client_of("annotator").post(f"/api/v1/issues/{issue.pk}/move/", {"move": "review"})
    test.refresh_from_db()

    assert test.state == "in_review"


@pytest.mark.parametrize("kind", ["issues", "tests"])
def test_only_who_may_approve_moves_on(kind):
    issue = make_issue(state="in_review", description="What goes wrong.")
    issue.sources.create(value="seen")
    test = make_test(issue=issue, state=TestState.IN_REVIEW if kind == "tests" else "approved")
    url = f"/api/v1/{kind}/{test.pk if kind == 'tests' else issue.pk}/move/"

    refused = client_of("annotator").post(url, {"move": "approve"})
    done = client_of("maintainer").post(url, {"move": "approve"})

    assert (refused.status_code, done.status_code) == (403, 200)
    assert done.json()["state"] == "approved"


def test_resolving_takes_a_label_or_a_note():
    issue = make_issue(description="What goes wrong.")
    issue.sources.create(value="seen")
    make_test(issue=issue)
    ResolutionLabel.objects.create(name="fixed")
    client = client_of("maintainer")
    url = f"/api/v1/issues/{issue.pk}/move/"

    refused = client.post(url, {"move": "resolve"})
    done = client.post(url, {"move": "resolve", "labels": ["fixed"]})

    assert (refused.status_code, done.status_code) == (400, 200), done.content
    assert (done.json()["state"], done.json()["resolution_labels"]) == ("resolved", ["fixed"])


@pytest.mark.parametrize(
    ("make", "kind", "move", "moves"),
    [
        (make_issue, "issues", "reopen", ["review", "approve", "deprecate"]),
        (make_test, "tests", "draft", ["review", "approve", "deprecate"]),
    ],
)
def test_a_move_that_the_state_forbids_names_those_that_are_possible(make, kind, move, moves):
    row = make(state="draft")

    response = client_of("maintainer").post(f"/api/v1/{kind}/{row.pk}/move/", {"move": move})

    refused = response.json()
    assert (response.status_code, refused["code"]) == (409, "move_not_possible")
    assert refused["moves"] == moves
    assert "Possible: “Send to review” or “Approve” or “Deprecate”." in refused["detail"]


def test_a_move_that_does_not_exist_is_refused_with_those_that_do():
    url = f"/api/v1/tests/{make_test().pk}/move/"

    response = client_of("maintainer").post(url, {"move": "fly"})

    assert response.status_code == 400
    assert '"fly"' in problems_in(response)["move"][0]


@pytest.mark.parametrize("make", [make_issue, make_test])
def test_a_move_answers_the_time_of_change_that_is_read_later(make):
    row = make(state="approved")
    url = f"/api/v1/{'issues' if make is make_issue else 'tests'}/{row.pk}/"
    client = client_of("maintainer")

    moved = client.post(f"{url}move/", {"move": "deprecate"})

    assert moved.status_code == 200, moved.content
    assert moved.json() == client.get(url).json()


@pytest.mark.parametrize("place", ["issues", "tests"])
def test_a_comment_is_appended_under_its_authors_name(place):
    row = make_issue() if place == "issues" else make_test()
    user = make_user("annotator")
    address = f"/api/v1/{place}/{row.pk}/"

    response = client_of(user).post(f"{address}comments/", {"text": "Seen again."})

    assert response.status_code == 201
    said = [
        (found["text"], found["author"])
        for found in client_of(user).get(address).json()["comments"]
    ]
    assert said == [("Seen again.", user.username)]


def test_issues_are_found_by_state_tag_and_text():
    issue = make_issue(title="Miscounts letters", tags=("letters", "text"))
    make_issue(title="Other", state="draft", tags=("text",))
    client = client_of("viewer")

    assert ids(client.get("/api/v1/issues/?tag=letters")) == [issue.pk]
    assert ids(client.get("/api/v1/issues/?state=approved&state=resolved")) == [issue.pk]
    assert ids(client.get("/api/v1/issues/?q=miscounts")) == [issue.pk]


def test_a_list_takes_the_same_number_of_queries_however_long(django_assert_max_num_queries):
    client = client_of("viewer")
    for n in range(12):
        issue = make_issue(tags=(f"tag {n}",))
        issue.comments.create(text="x")
        Feedback.objects.create(comment="x", issue=issue)

    with django_assert_max_num_queries(12):
        answer = client.get("/api/v1/issues/")

    assert len(ids(answer)) == 12


# Tests -------------------------------------------------------------------------------------------


def test_a_test_is_made_as_a_draft():
    issue = make_issue()

    response = client_of("annotator").post(
        "/api/v1/tests/", {"issue": issue.pk, "messages": ASKED, "template": make_template().pk}
    )

    assert response.status_code == 201, response.content
    assert (Test.objects.get().state, Test.objects.get().messages) == ("draft", ASKED)


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"messages": []}, "messages", "at least one message"),
        ({"messages": [{"role": "boss", "content": "x"}]}, "messages", 'role "boss"'),
        ({"weight": 11}, "weight", "given: 11"),
        ({"pass_threshold": 2}, "pass_threshold", "given: 2"),
        ({"template": 999}, "template", "999"),
        ({"issue": 2**70}, "issue", str(2**70)),
        ({"tools": ["x"]}, "tools[0]", "Send an object"),
    ],
)
def test_a_wrong_test_is_explained(fields, field, words):
    body = {"issue": make_issue().pk, "messages": ASKED, **fields}

    response = client_of("annotator").post("/api/v1/tests/", body)

    assert response.status_code == 400
    assert words in str(problems_in(response)[field])


@pytest.mark.parametrize("change", [{"guidelines": "It is 5."}, {"weight": 5}])
def test_an_approved_test_goes_back_to_review_unless_a_maintainer_rewrites_it(change):
    test = make_test()
    url = f"/api/v1/tests/{test.pk}/"

    def state_after(role, fields):
        return client_of(role).patch(url, fields).json()["state"]

    assert state_after("annotator", {"note": "Fine.", "weight": test.weight}) == "approved"
    assert state_after("maintainer", {"guidelines": "5."}) == "approved"
    assert state_after("annotator", change) == "in_review"


def test_runnable_tests_are_approved_ones_of_standing_issues():
    test = make_test()
    make_test(state=TestState.DRAFT)
    make_test(issue=make_issue(state="deprecated"))
    client = client_of("viewer")

    assert ids(client.get("/api/v1/tests/?runnable=true")) == [test.pk]
    assert len(ids(client.get("/api/v1/tests/?runnable=false"))) == 2


def test_sealed_text_is_told_only_to_its_readers():
    sealed = make_test("A sealed question", sealed=True, criteria=[{"text": "the secret"}])
    revision = freeze([sealed])[sealed.pk]
    reader = client_of("annotator")

    assert ids(reader.get("/api/v1/tests/?sealed=true")) == [sealed.pk]
    at = f"/api/v1/tests/{sealed.pk}/"
    assert b"the secret" in reader.get(at).content
    for client in map(client_of, ("viewer", "model developer")):
        for path in ("tests", "revisions"):
            assert ids(client.get(f"/api/v1/{path}/")) == []
        for path in (at, f"{at}readiness/", f"/api/v1/revisions/{revision.pk}/"):
            assert client.get(path).status_code == 404, path


def test_who_may_not_read_sealed_tests_cannot_seal_one():
    user = make_user("viewer")
    user.user_permissions.add(Permission.objects.get(codename="change_test"))
    test = make_test()

    response = client_of(user).patch(f"/api/v1/tests/{test.pk}/", {"sealed": True})

    assert response.status_code == 400
    assert not Test.objects.get().sealed


# Tags and templates ------------------------------------------------------------------------------


def test_a_tag_is_renamed_with_its_history():
    tag = Tag.objects.create(name="maths")

    response = client_of("maintainer").patch(f"/api/v1/tags/{tag.pk}/", {"name": "mathematics"})

    assert response.json()["name"] == "mathematics"
    assert tag.history.first().history_change_reason == "Renamed from maths"


def test_a_tag_is_not_its_own_parent():
    tag = Tag.objects.create(name="maths")

    response = client_of("maintainer").patch(f"/api/v1/tags/{tag.pk}/", {"parent": tag.pk})

    assert response.status_code == 400
    assert "its own parent" in str(response.json())


def test_a_template_is_drafted_published_and_never_changes_again():
    client = client_of("maintainer")
    text = "Judge this: {{ output }} by {{ guidelines }}. {{ scale }}"
    made = client.post("/api/v1/judge-templates/", {"family": "own", "title": "Own", "text": text})
    url = f"/api/v1/judge-templates/{made.json()['id']}/"

    assert made.status_code == 201, made.content
    shown = ("shows_input", "shows_reference", "shows_guidelines")
    assert [made.json()[name] for name in shown] == [False, False, True]
    assert client.patch(url, {"title": "Our own"}).status_code == 200
    assert client.post(f"{url}publish/").json()["state"] == "published"
    assert client.patch(url, {"text": text + " Be fair."}).status_code == 400
    assert client.post(f"{url}new_version/").json()["version"] == 2


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"text": "{{ promt }}"}, "text", "unknown variable 'promt'"),
        ({"text": "{{ test.author.password }}"}, "text", "reading an attribute is not possible"),
        ({"scale": {"options": []}}, "scale", "needs at least two options, not 0"),
        ({"family": "input-output-guidelines"}, "family", "new_version"),
    ],
)
def test_a_wrong_template_is_explained(fields, field, words):
    body = {"family": "own", "title": "Own", "text": "{{ output }}", **fields}

    response = client_of("maintainer").post("/api/v1/judge-templates/", body)

    assert response.status_code == 400
    assert words in str(problems_in(response)[field])
    assert not JudgeTemplate.objects.filter(title="Own").exists()


# Raw prompts -------------------------------------------------------------------------------------


def test_a_raw_prompt_is_one_message_without_tools_and_documents():
    client, issue = client_of("annotator"), make_issue()
    raw = {"role": "raw_prompt", "content": "<|user|>Hi"}
    body = {"issue": issue.pk, "messages": [raw]}

    made = client.post("/api/v1/tests/", body)
    mixed = client.post("/api/v1/tests/", {**body, "messages": [*ASKED, raw]})
    with_tools = client.post("/api/v1/tests/", {**body, "tools": [{"type": "function"}]})
    later = client.patch(f"/api/v1/tests/{made.json()['id']}/", {"context": "Sums."})

    assert (made.status_code, made.json()["messages"]) == (201, [raw])
    assert [r.status_code for r in (mixed, with_tools, later)] == [400, 400, 400]
    assert "A raw prompt is the only message" in str(problems_in(mixed)["messages"])
    assert "without tools" in str(problems_in(with_tools)["tools"])
    assert "without documents" in str(problems_in(later)["context"])
