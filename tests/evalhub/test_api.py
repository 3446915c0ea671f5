"""The shared parts of the API: filters, orders, pages, errors, limits, the schema."""

import json
from io import StringIO

import pytest
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.test import Client, override_settings
from django.urls import URLPattern, get_resolver, reverse
from drf_spectacular.validation import validate_schema
from jsonschema import ValidationError
from rest_framework.settings import api_settings

from evalhub.access.request_limits import AnonymousLimit, LongPageLimit, TokenLimit, UserLimit
from evalhub.api.filters import NamedFilters
from evalhub.api.views import Rows
from evalhub.models import Call, CallRole
from reports.gate.api import GateView
from tests.api import client_of, ids, problems_in
from tests.factories import make_issue, make_model, make_user

pytestmark = pytest.mark.django_db


# Query strings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "assignee__password__startswith=p",
        "author__password__regex=.*",
        "password=x",
        "state__in=draft",
        "_connector=OR",
        "format=json",
    ],
)
def test_an_unknown_parameter_is_refused_with_those_that_exist(query):
    response = client_of("viewer").get(f"/api/v1/issues/?{query}")

    name = query.partition("=")[0]
    assert response.status_code == 400
    (message,) = problems_in(response)[name]
    assert message.startswith(f"Unknown parameter {name!r}. Available: assignee,")


@pytest.mark.parametrize("field", ["assignee__password", "-author__password", "password", "state"])
def test_an_order_by_another_field_is_refused(field):
    response = client_of("viewer").get(f"/api/v1/issues/?ordering={field}")

    assert response.status_code == 400
    assert problems_in(response)["ordering"][0].startswith(
        f"Order by id or created_at or updated_at, not {field}."
    )


def test_a_single_row_takes_no_parameters():
    issue = make_issue()

    response = client_of("viewer").get(f"/api/v1/issues/{issue.pk}/?state=draft")

    assert response.status_code == 400


def views_with_filters():
    found = []
    for pattern in api_patterns():
        view = getattr(pattern.callback, "cls", None)
        if view is not None and getattr(view, "filterset_class", None):
            found.append(view)
    return found


def api_patterns() -> list[URLPattern]:
    found: list[URLPattern] = []
    waiting = list(get_resolver().url_patterns)
    while waiting:
        pattern = waiting.pop()
        waiting += getattr(pattern, "url_patterns", [])
        if isinstance(pattern, URLPattern) and (pattern.name or "").startswith("api-"):
            found.append(pattern)
    return found


def test_no_filter_and_no_order_reaches_through_a_relation_by_its_name():
    views = views_with_filters()
    names = [name for view in views for name in view.filterset_class.base_filters]
    names += [name for view in views for name in getattr(view, "ordering_fields", None) or ()]

    assert len(names) > 40
    assert [name for name in names if "__" in name] == []


def test_every_list_has_the_strict_filters():
    backends = {view.filter_backends[0] for view in views_with_filters()}

    assert backends == {NamedFilters}


@pytest.mark.both_engines
@pytest.mark.parametrize(
    ("name", "values"),
    [
        *(("state", ["drafty"]), ("sealed", ["maybe"]), ("updated_since", ["yesterday"])),
        ("issue", ["0", "x", "1.5", str(2**70)]),
        ("page_size", ["0", "-1", "1001", "many", "1e3", ""]),
    ],
)
def test_a_value_that_is_not_understood_is_named_and_not_ignored(name, values):
    client = client_of("viewer")
    for value in values:
        response = client.get(f"/api/v1/tests/?{name}={value}")
        assert response.status_code == 400, value
        assert value in problems_in(response)[name][0]
        if name == "page_size":
            assert problems_in(response)[name][0].startswith("Choose a number from 1 to 1000")


# Pages -------------------------------------------------------------------------------------------


@pytest.mark.both_engines
def test_pages_follow_each_other_without_gaps():
    made = [make_issue().pk for _ in range(5)]
    client = client_of("viewer")

    first = client.get("/api/v1/issues/?page_size=2&ordering=id")
    second = client.get(first.json()["next"])
    third = client.get(second.json()["next"])

    assert ids(first) + ids(second) + ids(third) == made
    assert third.json()["next"] is None


@pytest.mark.both_engines
def test_rows_that_arrive_meanwhile_shift_nothing():
    made = [make_issue().pk for _ in range(4)]
    client = client_of("viewer")
    first = client.get("/api/v1/issues/?page_size=2")
    make_issue()

    second = client.get(first.json()["next"])

    assert ids(first) + ids(second) == made[::-1]


@pytest.mark.parametrize("cursor", ["x", "cD14eXo=", "cD0xJTAw", "bz0xJnA9"])
def test_a_cursor_that_somebody_wrote_is_refused(cursor):
    response = client_of("viewer").get(f"/api/v1/issues/?cursor={cursor}")

    assert response.status_code in (200, 400)


# What is sent ------------------------------------------------------------------------------------


def test_an_error_names_field_and_value():
    response = client_of("annotator").post("/api/v1/issues/", {"title": "x", "severity": "huge"})

    assert response.status_code == 400
    assert problems_in(response) == {"severity": ['"huge" is not a valid choice.']}


def test_an_error_shows_the_beginning_of_a_long_value():
    response = client_of("annotator").post("/api/v1/issues/", {"title": "x" * 500})

    (message,) = problems_in(response)["title"]
    assert "no more than 200 characters" in message
    assert message.endswith("'… of 500 characters)")


@pytest.mark.both_engines
@pytest.mark.parametrize(
    ("body", "place"),
    [
        ('{"title": "a\\u0000b"}', "title"),
        ('{"title": "x", "description": "\\ud800"}', "description"),
        ('{"sources": [{"value": "\\u0000"}]}', "sources[0].value"),
    ],
)
def test_text_that_cannot_be_stored_is_refused(body, place):
    client = client_of("annotator")

    response = client.generic("POST", "/api/v1/issues/", body, content_type="application/json")

    assert response.status_code == 400
    assert response.json()["detail"].startswith(f"{place} has a character that cannot be stored")


@pytest.mark.parametrize("body", ["[" * 50_000, '{"title": NaN}', "{"])
def test_what_is_not_json_is_refused(body):
    client = client_of("annotator")

    response = client.generic("POST", "/api/v1/issues/", body, content_type="application/json")

    assert response.status_code == 400


def test_a_request_above_the_limit_is_refused():
    client = client_of("annotator")

    with override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=100):
        response = client.post("/api/v1/issues/", {"title": "x" * 100})

    assert response.status_code == 413
    assert response.json()["detail"].startswith("A request holds at most")


def test_nothing_can_be_deleted():
    allowed = {
        method
        for pattern in api_patterns()
        for method in getattr(pattern.callback, "actions", None) or ()
    }

    assert allowed == {"get", "head", "post", "patch"}


def test_every_post_can_be_sent_twice_and_done_once():
    """With an Idempotency-Key, which `Rows` reads; see test_idempotency."""
    views = [pattern.callback for pattern in api_patterns()]
    actions = {view: getattr(view, "actions", None) or vars(view.cls) for view in views}
    posted = {view.cls for view in views if "post" in actions[view]}

    assert len(posted) > 15
    assert {view for view in posted if not issubclass(view, Rows)} == {GateView}
    assert GateView.changes_nothing


def test_too_many_requests_are_slowed_down(monkeypatch):
    monkeypatch.setattr(UserLimit, "rate", "2/min", raising=False)
    client = client_of("viewer")

    codes = [client.get("/api/v1/issues/").status_code for _ in range(3)]

    assert codes == [200, 200, 429]


def test_requests_are_throttled_by_default():
    classes: list[object] = list(api_settings.DEFAULT_THROTTLE_CLASSES)

    assert classes == [AnonymousLimit, UserLimit, TokenLimit, LongPageLimit]


# Language models and calls -----------------------------------------------------------------------


def test_a_key_is_in_no_answer(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    model = make_model(api_key_env="SOME_KEY", api_base="https://models.example.org")
    client = client_of("superuser")

    texts = [client.get(f"/api/v1/{path}").content.decode() for path in lists()]
    texts.append(client.get(f"/api/v1/language-models/{model.pk}/").content.decode())

    assert all("sk-very-secret" not in text for text in texts)


def lists() -> list[str]:
    names = {pattern.name for pattern in api_patterns() if str(pattern.name).endswith("-list")}
    assert len(names) > 12
    return [reverse(name).removeprefix("/api/v1/") for name in sorted(names)]


@pytest.mark.parametrize(
    ("role", "is_shown"), [("viewer", False), ("annotator", False), ("maintainer", True)]
)
def test_only_maintainers_read_a_models_address(role, is_shown):
    model = make_model(api_key_env="SOME_KEY", api_base="https://models.example.org")

    shown = client_of(role).get(f"/api/v1/language-models/{model.pk}/").json()

    assert [name in shown for name in ("api_base", "api_key_env", "params")] == [is_shown] * 3


def make_call() -> Call:
    return Call.objects.create(
        language_model=make_model(),
        role=CallRole.JUDGE,
        reply="what the model said",
        request_digest="d",
        started_at="2026-01-01T00:00Z",
    )


def test_replies_require_the_right_to_read_sealed_tests():
    call = make_call()
    reader = make_user("viewer")
    reader.user_permissions.add(Permission.objects.get(codename="view_call"))

    for_reader = client_of(reader).get(f"/api/v1/calls/{call.pk}/").json()
    for_maintainer = client_of("maintainer").get(f"/api/v1/calls/{call.pk}/").json()

    assert ("reply" in for_reader, "reply" in for_maintainer) == (False, True)


# The schema --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written():
    """The schema, which is written without a warning."""
    out = StringIO()
    call_command("spectacular", "--fail-on-warn", "--format", "openapi-json", stdout=out)
    return json.loads(out.getvalue())


def test_the_schema_is_valid(written):
    validate_schema(written)
    with pytest.raises(ValidationError):
        validate_schema({**written, "paths": "none"})


def test_the_schema_names_every_path_of_the_api(written):
    named = {pattern.name for pattern in api_patterns()} - {"api-docs"}
    assert len(written["paths"]) == len(named)


def properties(written):
    for name, component in written["components"]["schemas"].items():
        for field, form in component.get("properties", {}).items():
            yield f"{name}.{field}", form


def test_every_property_has_a_type(written):
    typed = {"type", "$ref", "oneOf", "anyOf", "allOf", "enum", "const"}

    untyped = {name for name, form in properties(written) if not typed & form.keys()}

    assert untyped == {"ReportFact.value"}  # a cell of any kind


def test_money_has_one_type(written):
    money = {
        name: form for name, form in properties(written) if name.endswith("_usd") and "type" in form
    }

    assert len(money) > 10
    for name, form in money.items():
        kinds = {form["type"]} if isinstance(form["type"], str) else {*form["type"]}
        assert (kinds - {"null"}, form.get("format")) == ({"string"}, "decimal"), name


def test_enums_have_the_names_of_their_fields(written):
    names = [name for name, form in written["components"]["schemas"].items() if "enum" in form]

    assert [name for name in names if any(sign.isdigit() for sign in name)] == []
    assert [name for name in names if name.endswith("Enum")] == []


def test_every_operation_documents_its_errors_and_headers(written):
    operations = [
        (path, method, operation)
        for path, methods in written["paths"].items()
        for method, operation in methods.items()
    ]

    for path, method, operation in operations:
        documented = {code for code in operation["responses"] if code >= "400"}
        assert documented >= {"400", "401", "403", "429", "500", "503"}, path
        headers = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "header"}
        if method == "patch":
            assert headers == {"If-Match"}, path
            assert "412" in documented
        if method == "post" and path != "/api/v1/gates/":
            hides_answers = path.startswith("/api/v1/tokens/")
            assert ("Idempotency-Key" in headers) != hides_answers, path
            assert documented >= {"409", "413", "415"}, path
    refused = written["paths"]["/api/v1/tests/{id}/"]["patch"]["responses"]["412"]
    assert list(refused["content"]) == ["application/problem+json"]


def test_the_page_of_the_schema_runs_under_our_policy():
    page = Client().get("/api/docs/")
    text = page.content.decode()

    assert page.status_code == 200
    assert "<script>" not in text
    assert "//cdn" not in text
    assert "https://" not in text
    assert (
        "'unsafe-inline'"
        not in page.headers["Content-Security-Policy"].split("script-src")[1].split(";")[0]
    )
