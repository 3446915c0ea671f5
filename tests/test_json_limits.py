"""JSON that a person or script sends is bounded, so that nothing saved can break a page."""

import json

import pytest
from django import forms
from django.contrib import admin
from django.test import RequestFactory

from evalhub.admin_site.json_field import BoundedJSONField
from evalhub.values.strict_json import MAX_DEPTH, parse
from issues.models import Feedback
from tests.api import client_of
from tests.factories import make_model, make_test, make_user

pytestmark = pytest.mark.django_db


def nested(levels: int) -> str:
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


def test_fifty_levels_are_the_limit_of_all_our_json():
    assert parse(nested(MAX_DEPTH))
    for levels in (MAX_DEPTH + 1, 500, 100_000):
        with pytest.raises(RecursionError):
            parse(nested(levels))


@pytest.mark.parametrize("levels", [MAX_DEPTH, 300, 860, 930, 20_000])
def test_the_api_refuses_deeper_json_wherever_it_is_sent(levels):
    api = client_of("superuser")
    bodies = {
        "/api/v1/runs/": '{"models": [1], "params": %s}',
        "/api/v1/feedback/": '{"prompt": "p", "answer": "r", "raw": %s}',
        "/api/v1/tests/": '{"prompt": "p", "tools": [%s]}',
        "/api/v1/juries/": '{"name": "j", "params": %s}',
    }
    for address, body in bodies.items():
        sent = body % nested(levels)
        response = api.generic("POST", address, sent, content_type="application/json")
        assert response.status_code == 400, address
        assert f"nested over {MAX_DEPTH} levels" in response.content.decode(), address
    assert not Feedback.objects.exists()


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 300, 930, 20_000])
def test_forms_refuse_deeper_json_and_show_it_again(client, levels):
    user = make_user("superuser")
    client.force_login(user)
    pages = {
        f"/admin/issues/test/{make_test().pk}/change/": ("messages", "tools"),
        f"/admin/evalhub/languagemodel/{make_model().pk}/change/": ("params",),
        "/admin/runs/jury/add/": ("params",),
        "/admin/runs/launch/add/": ("params",),
        f"/admin/issues/feedback/{Feedback.objects.create(prompt='p', answer='r').pk}/change/": (
            "raw",
        ),
    }
    for address, names in pages.items():
        for name in names:
            response = client.post(address, {name: nested(levels), "kind": "turns"})
            assert response.status_code < 500, (address, name)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 51 + "]" * 51, "nested over 50 levels"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('["\\u0000"]', "cannot be stored"),
        (json.dumps(["x" * 500_001]), "the limit is 500000"),
        ("{", "Enter a valid JSON"),
    ],
)
def test_a_form_says_what_is_wrong_with_its_json(text, problem):
    class Form(forms.Form):
        value = BoundedJSONField()

    form = Form({"value": text})
    assert problem in form.errors["value"][0]
    assert form.as_p()


def test_every_json_field_of_every_admin_form_is_bounded():
    request = RequestFactory().get("/")
    request.user = make_user("superuser")
    found: dict[str, type] = {}
    for model, page in admin.site._registry.items():
        if not page.has_add_permission(request) and not page.has_change_permission(request):
            continue
        inlines = [
            inline.get_formset(request).form for inline in page.get_inline_instances(request)
        ]
        for form in [page.get_form(request), *inlines]:
            fields = form.base_fields.items()
            found |= {
                f"{model.__name__}.{form.__name__}.{name}": type(field)
                for name, field in fields
                if isinstance(field, forms.JSONField)
            }
    assert len(found) >= 4
    assert {name for name, kind in found.items() if not issubclass(kind, BoundedJSONField)} == set()
