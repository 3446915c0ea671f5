"""An HTTP application in a real browser: set up, tested by a request, and launched."""

import json

import pytest

from evalhub.models import LanguageModel
from runs.models import Run
from tests.application import SETTINGS, Desk
from tests.browser import overflow_px, shoot, show
from tests.factories import make_test
from tests.provider import Provider

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_application_is_set_up_checked_and_launched(enter, settings, monkeypatch):
    test = make_test("How do I return a kettle?")
    with Provider(script=Desk()) as provider:
        host = f"127.0.0.1:{provider.port}"
        settings.EVALHUB_ALLOWED_ADDRESSES, settings.EVALHUB_KEYS = [host], [f"DESK_KEY@{host}"]
        monkeypatch.setenv("DESK_KEY", "desk-secret-0815")
        enter.goto("/admin/evalhub/languagemodel/add/")
        enter.fill("[name=name]", "Support desk")
        assert enter.locator("[name=litellm_model]").is_visible()
        enter.select_option("[name=kind]", "application")
        enter.locator("[name=litellm_model]").wait_for(state="hidden")
        enter.fill("[name=api_base]", provider.application_url)
        shoot(enter, "application-form")
        enter.get_by_text("Application request").click()
        enter.fill("[name=headers]", json.dumps(SETTINGS["headers"]))
        enter.fill("[name=body]", json.dumps(SETTINGS["body"]))
        shoot(enter, "application-request")
        enter.get_by_text("Application reply").click()
        for name in ("answer_path", "documents_path", "cost_path"):
            enter.fill(f"[name={name}]", SETTINGS[name])
        shoot(enter, "application-reply")
        enter.locator("[name=_continue]").first.click()
        enter.get_by_role("button", name="Send a test request").click()
        enter.get_by_role("heading", name="Values found").wait_for()

        assert enter.get_by_text("It works.").is_visible()
        assert "desk-secret-0815" not in enter.content()
        shoot(enter, "application-check")
        show(enter, width=390)
        assert overflow_px(enter) == 0
        show(enter)

        desk = LanguageModel.objects.get()
        enter.goto(f"/admin/runs/launch/add/?tests={test.pk}")
        enter.fill("[name=label]", "Desk")
        enter.check(f"[name=models][value='{desk.pk}']")
        enter.get_by_label("Human evaluation only").check()
        enter.get_by_role("button", name="Launch").first.click()
        enter.wait_for_url(lambda url: "launch/add" not in url)

    assert Run.objects.get().language_model == desk
