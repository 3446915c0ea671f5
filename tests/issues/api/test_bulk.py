"""Many issues and tests at once: known ones are changed where they differ, or nothing is."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from issues.models import Issue, Test
from tests.api import client_of, problems_in
from tests.factories import make_issue, make_test, make_user

pytestmark = pytest.mark.django_db

TESTS, ISSUES = "/api/v1/tests/", "/api/v1/issues/"
TYPES = {
    "ndjson": "application/x-ndjson",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
}


@pytest.fixture
def client():
    return client_of("maintainer")


def send(client, address, rows, query="", kind="application/json"):
    data = rows if isinstance(rows, bytes) else json.dumps(rows).encode()
    return client.generic("POST", f"{address}bulk/{query}", data, content_type=kind)


def counts(response):
    assert response.status_code == 200, response.content
    found = response.json()
    return found["made"], found["changed"], found["same"]


def row(n, **fields):
    message = {"role": "user", "content": f"What is {n} + 2?"}
    return {"source_id": f"sum-{n}", "messages": [message], "reference": str(n + 2)} | fields


def content(client, address, kind):
    response = client.get(f"{address}export/?format={kind}")
    assert response.status_code == 200, response.content
    return b"".join(response.streaming_content)


def test_rows_are_made_then_changed_only_where_they_differ(client):
    issue = make_issue(source_id="sums")
    rows = [row(n, issue_source_id="sums", criteria=[{"text": "Adds up"}]) for n in range(3)]

    first = counts(send(client, TESTS, rows))
    again = counts(send(client, TESTS, rows))
    rows[1] = {"source_id": "sum-1", "reference": "three"}
    changed = counts(send(client, TESTS, rows))

    assert (first, again, changed) == ((3, 0, 0), (0, 0, 3), (0, 1, 2))
    test = Test.objects.get(source_id="sum-1")
    assert (test.issue, test.reference, test.criteria.get().text) == (issue, "three", "Adds up")
    assert test.history.count() == 2  # a row that is the same leaves no trace


def test_rows_that_are_the_same_cost_no_queries_of_their_own(client):
    make_issue(source_id="sums")
    rows = [row(n, issue_source_id="sums", criteria=[{"text": "Adds up"}]) for n in range(12)]
    send(client, TESTS, rows)

    numbers = []
    for some in (rows[:2], rows):
        with CaptureQueriesContext(connection) as queries:
            assert counts(send(client, TESTS, some)) == (0, 0, len(some))
        numbers.append(len(queries))

    assert numbers[0] == numbers[1]


def test_a_criterion_sent_without_its_key_keeps_it(client):
    make_issue(source_id="sums")
    sent = row(1, issue_source_id="sums", criteria=[{"text": "Adds up"}, {"text": "Is brief"}])
    send(client, TESTS, [sent])
    keys = dict(Test.objects.get().criteria.values_list("text", "key"))

    send(client, TESTS, [{**sent, "criteria": [{"text": "Is brief"}, {"text": "Is kind"}]}])

    after = dict(Test.objects.get().criteria.values_list("text", "key"))
    assert after["Is brief"] == keys["Is brief"]
    assert set(after) == {"Is brief", "Is kind"}


def test_all_problems_are_named_by_row_and_nothing_is_saved(client):
    issue = make_issue()
    rows = [
        row(1, issue=issue.pk),
        row(2, issue=issue.pk, guidlines="typo"),
        row(3, issue_source_id="nowhere"),
        row(1, issue=issue.pk),
        {"messages": []},
        row(4, issue=issue.pk, criteria=[{"text": ""}]),
        {"id": 999, "reference": "4"},
        row(5, issue=issue.pk, source_id="sum\0"),
    ]

    response = send(client, TESTS, rows)

    problems = " ".join(problems_in(response)[""])
    assert response.status_code == 400
    assert Test.objects.count() == 0
    for said in (
        "item 2: guidlines: Unknown field 'guidlines'",
        "item 3: issue_source_id: there is no issue with the source_id 'nowhere'",
        "item 4: has the source_id 'sum-1', as does item 1",
        "item 5: source_id is missing",
        "item 6: criteria[0]: Enter the criterion",
        "item 7: There is no test 999 here",
        "item 8: source_id has a character that cannot be stored",
    ):
        assert said in problems


def test_lines_that_are_no_json_are_named_too(client):
    response = send(client, ISSUES, b'{"source_id": "a"}\n{oops\n', kind=TYPES["ndjson"])

    problems = problems_in(response)[""]
    assert [problem.split(":")[0] for problem in problems] == ["line 2", "line 1"]


def test_a_dry_run_counts_and_saves_nothing(client):
    known = make_issue(source_id="known")
    rows = [{"source_id": "known", "title": "Renamed"}, {"source_id": "new", "title": "New"}]

    response = send(client, ISSUES, rows, "?dry_run=true")

    assert counts(response) == (1, 1, 0)
    assert [one["id"] for one in response.json()["results"]] == [known.pk, None]
    assert not Issue.objects.filter(title__in=["Renamed", "New"]).exists()


@pytest.mark.parametrize("kind", TYPES)
def test_what_is_exported_and_sent_back_changes_nothing(client, kind):
    issue = make_issue(tags=("Math",), description="=1+1", source_id="i")
    issue.sources.create(kind="url", value="https://example.org/a")
    make_issue(title="'=quoted", severity="high")
    make_test(
        issue=issue,
        source_id="t",
        pass_threshold=0.5,
        tools=[{"type": "function", "function": {"name": "add"}}],
        criteria=[
            {"text": "Says 4", "weight": 2},
            {"check_name": "contains", "arguments": {"text": "4"}},
        ],
    ).tags.set(issue.tags.all())
    make_test('Line one,\n"two"', issue=issue, sealed=True, weight=0.5)
    history = Test.history.count(), Issue.history.count()

    for address in (ISSUES, TESTS):
        sent = content(client, address, kind)
        assert counts(send(client, address, sent, kind=TYPES[kind])) == (0, 0, 2)

    assert (Test.history.count(), Issue.history.count()) == history


def test_an_export_makes_the_same_rows_on_another_site(client):
    issue = make_issue(source_id="i", tags=("Math",))
    test = make_test(issue=issue, source_id="t", criteria=[{"text": "Says 4"}])
    issues, tests = (content(client, address, "csv") for address in (ISSUES, TESTS))
    key = test.criteria.get().key
    test.delete()
    issue.delete()

    made = [
        counts(send(client, address, data, kind="text/csv"))
        for address, data in ((ISSUES, issues), (TESTS, tests))
    ]

    assert made == [(1, 0, 0), (1, 0, 0)]
    again = Test.objects.get()
    assert (again.criteria.get().key, again.reference, again.state) == (key, "4", "draft")


def test_a_row_of_another_site_never_overwrites_one_with_its_id(client):
    test = make_test()

    response = send(
        client, TESTS, [{"id": test.pk, "created_at": "2020-01-01T00:00:00Z", "reference": "5"}]
    )

    assert response.status_code == 400
    assert "give the row a source_id" in problems_in(response)[""][0]


def test_sealed_tests_are_neither_exported_nor_changed_by_who_may_not_read_them():
    sealed = make_test(source_id="kept", sealed=True)
    client = client_of(make_user("viewer"))
    writer = make_user()
    writer.user_permissions.set(_rights("add_test", "change_test", "view_test"))

    response = send(client_of(writer), TESTS, [{"source_id": "kept", "reference": "5"}])

    assert b"kept" not in content(client, TESTS, "ndjson")
    assert response.status_code == 400
    assert "which you may not read" in problems_in(response)[""][0]
    sealed.refresh_from_db()
    assert sealed.reference == "4"


def test_an_editor_who_may_not_approve_sends_approved_tests_back_to_review():
    test = make_test(source_id="t")
    writer = make_user()
    writer.user_permissions.set(_rights("add_test", "change_test", "view_test"))

    send(client_of(writer), TESTS, [{"source_id": "t", "reference": "5"}])

    test.refresh_from_db()
    assert (test.state, test.reference) == ("in_review", "5")


def test_changing_needs_the_right_to_change():
    make_test(source_id="t")
    writer = make_user()
    writer.user_permissions.set(_rights("add_test", "view_test"))

    response = send(client_of(writer), TESTS, [{"source_id": "t", "reference": "5"}])

    assert (response.status_code, "issues.change_test" in str(response.json())) == (403, True)


def test_a_parquet_file_that_unpacks_to_more_than_is_allowed_is_refused(client, monkeypatch):
    arrow = pytest.importorskip("pyarrow")
    import io

    from pyarrow import parquet

    from evalhub.files import parquet as ours

    packed = io.BytesIO()
    parquet.write_table(arrow.table({"reference": ["x" * 1000] * 500}), packed)
    monkeypatch.setattr(ours, "MAX_UNPACKED", 1000)

    response = send(client, TESTS, packed.getvalue(), kind=TYPES["parquet"])

    assert response.status_code == 400
    assert "unpack" in str(response.json())


def _rights(*names):
    from django.contrib.auth.models import Permission

    return Permission.objects.filter(codename__in=names)
