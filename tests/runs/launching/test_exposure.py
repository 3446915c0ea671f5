"""Sealed tests leave the trusted network only knowingly, and never without a record."""

import asyncio
from itertools import count

import pytest
from django.db import connection
from django.urls import reverse

from evalhub.models import CallRole, Exposure
from evalhub.work.calls import caller
from evalhub.work.kinds import Kind, kinds
from issues.models import Test
from runs.judging.jury import snapshot
from runs.launching.answer_files import read_objects
from runs.launching.exposure import CONSENT, exposure_of_judge_run
from runs.launching.imported_answers import import_answers
from runs.launching.launch import launch
from runs.launching.launch_options import DEFAULT_FIELDS, LaunchRefused, read_spec
from runs.launching.launch_selection import named, sealed_exposure_of
from runs.launching.schedules import launch_again
from runs.lifecycle import control
from runs.models import JudgeRun, Launch, Run
from tests import provider as scripted
from tests.api import client_of
from tests.factories import make_jury, make_model, make_run, make_template, make_test, make_user
from tests.provider import verdict
from tests.reports.judged_runs import answer
from tests.runs.judged_runs import judged_run

pytestmark = pytest.mark.django_db

OUTSIDE = "https://api.example.org/v1"
HERE = "http://127.0.0.1:8000/v1"
ADD = "/admin/runs/launch/add/"


# Recording ---------------------------------------------------------------------------------------


@pytest.fixture
def outside(settings) -> None:
    """Nothing is trusted, not even this machine, where the scripted provider is."""
    settings.EVALHUB_TRUSTED_ADDRESSES = []


def written(**fields):
    rows = Exposure.objects.filter(**fields).order_by("test", "purpose")
    return list(rows.values_list("test", "purpose"))


@pytest.mark.django_db(transaction=True)
def test_a_worker_writes_down_what_it_sends_once_a_day(provider, model_at, work, outside):
    provider.script = lambda request: verdict("pass")
    sealed, model = make_test(sealed=True), model_at()
    run = make_run(sealed, make_test(), model=model, jury=make_jury(model_at(), model_at()))
    work()

    assert run.results.filter(outcome="pending").count() == 0
    row = Exposure.objects.get()
    address = f"127.0.0.1:{provider.port}"
    assert (row.test, row.kind, row.endpoint) == (sealed.pk, "sent", address)
    assert (row.language_model, row.purpose) == (model, CallRole.CANDIDATE)


@pytest.mark.django_db(transaction=True)
def test_what_stays_in_the_trusted_network_is_not_an_exposure(provider, model_at, work):
    make_run(make_test(sealed=True), model=model_at(), jury=make_jury(model_at()))
    work()
    assert provider.total
    assert not Exposure.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_it_is_written_before_it_is_sent(provider, model_at, work, outside, monkeypatch):
    """So a killed worker cannot have sent what is not on record."""
    provider.script = lambda request: verdict("pass")
    sealed = make_test(sealed=True)
    make_run(sealed, model=model_at(), jury=make_jury(model_at()))
    send, seen = caller.gateway.complete, []

    async def watched(*args, **kwargs):
        seen.append(await asyncio.to_thread(on_record, sealed.pk))
        return await send(*args, **kwargs)

    monkeypatch.setattr(caller.gateway, "complete", watched)
    work()

    assert set(seen) == {True}
    assert len(seen) == provider.total >= 2


def on_record(test):
    try:
        return Exposure.objects.filter(test=test).exists()
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_an_embedding_model_outside_is_a_receiver(provider, model_at, work, outside):
    provider.script = scripted.sequence("Four.")
    embedder = model_at(name="Embedder")
    sealed = make_test(sealed=True)
    run = make_run(
        sealed,
        model=make_model(api_base=HERE),
        similarity_weight=0.5,
        similarity_endpoint=embedder.endpoint().to_json(),
    )
    answer(run)
    work()
    assert written() == [(sealed.pk, CallRole.EMBEDDING)]


@pytest.mark.django_db(transaction=True)
def test_an_example_of_a_test_that_was_sealed_since_is_sent_too(provider, model_at, work, outside):
    provider.script = lambda request: verdict("pass")
    taught, template = make_test(), make_template(state="draft")
    template.examples.create(test=taught, output="5", option="pass", input="2 + 3?")
    type(template).objects.filter(pk=template.pk).update(state="published")
    template.refresh_from_db()
    Test.objects.filter(pk=taught.pk).update(sealed=True)
    make_run(make_test(template=template), model=model_at(), jury=make_jury(model_at()))
    work()
    assert written() == [(taught.pk, CallRole.JUDGE)]


def test_every_kind_of_work_says_which_sealed_tests_it_sends():
    """The desk takes it from the kind; a kind that forgets cannot be made."""
    assert "sealed_tests" in Kind.__abstractmethods__
    assert all(type(kind).sealed_tests is not Kind.sealed_tests for kind in kinds())


# Launching ---------------------------------------------------------------------------------------


def spec_of(*tests, models=None, **fields):
    models = models or [make_model(name=f"GPT {next(number)}", api_base=OUTSIDE)]
    asked = {"label": "l", "tests": [test.pk for test in tests], "models": [m.pk for m in models]}
    return read_spec(asked | fields)


number = count(1)


def said(spec):
    return str(sealed_exposure_of(spec, named(spec)))


def test_an_exposure_names_its_addresses_and_roles():
    tests = [make_test(sealed=n < 2) for n in range(5)]
    model = make_model(name="GPT", api_base=OUTSIDE)
    jury = make_jury(make_model(name="Judge", api_base=OUTSIDE), make_model(api_base=HERE))
    assert said(spec_of(*tests, models=[model], jury=jury.pk)) == (
        "2 of 5 tests are sealed and would be sent to api.example.org:443 (candidate GPT, judge "
        "Judge), outside the trusted network. This is logged as an exposure."
    )


def test_a_backup_a_repair_model_and_an_embedder_are_receivers():
    repair_model, embedder, backup = (
        make_model(name=n, api_base=OUTSIDE) for n in ("Men", "Em", "Ba")
    )
    template = make_template(repair_model=repair_model)
    jury = make_jury(make_model(api_base=HERE))
    jury.backup = make_jury(backup).judges.get()
    jury.save()
    spec = spec_of(
        make_test(sealed=True, template=template),
        models=[make_model(api_base=HERE)],
        jury=jury.pk,
        similarity_weight=0.5,
        similarity_model=embedder.pk,
    )
    assert "(backup judge Ba, repair Men, similarity Em)" in said(spec)


@pytest.mark.parametrize(("sealed", "api_base"), [(False, OUTSIDE), (True, HERE)])
def test_nothing_is_said_where_nothing_sealed_leaves(sealed, api_base):
    spec = spec_of(make_test(sealed=sealed), models=[make_model(api_base=api_base)])
    assert sealed_exposure_of(spec, named(spec)) is None


def test_it_says_who_has_had_them_before():
    test = make_test(sealed=True)
    spec = spec_of(test)
    assert sealed_exposure_of(spec, named(spec)).before() == ["None of them was sent there before."]
    for day in ("2026-01-02", "2026-01-05"):
        Exposure.objects.create(test=test.pk, kind="sent", endpoint="api.example.org:443", day=day)
    assert sealed_exposure_of(spec, named(spec)).before() == [
        "api.example.org:443 received 1 of them before, last on 2026-01-05."
    ]


def test_a_launch_needs_the_consent_and_keeps_it():
    test = make_test(sealed=True)
    with pytest.raises(LaunchRefused, match="1 test is sealed and would be sent"):
        launch(spec_of(test), by=None)
    record = launch(spec_of(test, allow_sealed_exposure=True), by=None)
    assert record.spec[CONSENT] is True
    launch_again(record, by=None)
    assert record.runs.count() == 2


def test_a_suite_cannot_give_the_consent_for_later_launches():
    assert CONSENT not in DEFAULT_FIELDS


def test_the_api_needs_the_consent():
    test, model = make_test(sealed=True), make_model(api_base=OUTSIDE)
    script = client_of("maintainer")
    asked = {"label": "l", "tests": [test.pk], "models": [model.pk]}
    refused = script.post("/api/v1/runs/", asked)
    assert refused.status_code == 400
    assert "allow_sealed_exposure: true" in str(refused.json())
    assert script.post("/api/v1/runs/", {**asked, CONSENT: True}).status_code == 201


def test_supplied_answers_go_to_judges_and_not_to_the_candidate():
    test, model = make_test(sealed=True), make_model(api_base=OUTSIDE)
    answers = read_objects([{"test": test.pk, "answer": "4"}])
    import_answers(spec_of(test, models=[model]), answers, by=None)
    jury = make_jury(make_model(name="Judge", api_base=OUTSIDE))
    with pytest.raises(LaunchRefused, match=r"\(judge Judge\)"):
        import_answers(spec_of(test, models=[model], jury=jury.pk), answers, by=None)


# The form ----------------------------------------------------------------------------------------


@pytest.fixture
def maintainer(client, db):
    client.force_login(make_user("maintainer"))


def form_of(*tests, model, **fields):
    numbers = ", ".join(str(test.pk) for test in tests)
    sent = {"label": "one", "repeats": "1", "jury": "", "act": "launch", "tests": numbers}
    return sent | {"models": [model.pk]} | fields


def test_the_form_asks_for_a_tick_that_holds_for_what_was_read_alone(client, maintainer):
    test, model = make_test(sealed=True), make_model(api_base=OUTSIDE)
    page = client.post(ADD, form_of(test, model=model)).content.decode()
    assert "api.example.org:443" in page
    key = page.split(f'name="{CONSENT}" value="')[1].split('"')[0]
    client.post(ADD, form_of(test, make_test(sealed=True), model=model, **{CONSENT: key}))
    client.post(ADD, form_of(test, model=make_model(api_base="https://b.org"), **{CONSENT: key}))
    assert not Run.objects.exists()
    client.post(ADD, form_of(test, model=model, **{CONSENT: key}))
    assert Launch.objects.get().spec[CONSENT] is True


# Judging again -----------------------------------------------------------------------------------


def a_judged_run():
    return judged_run(make_test(sealed=True), make_test(), model=make_model(api_base=HERE))


def test_judge_run_again_needs_the_consent():
    run, jury = a_judged_run(), make_jury(make_model(name="Judge", api_base=OUTSIDE))
    with pytest.raises(control.NotPossible, match="1 of 2 tests is sealed"):
        control.rejudge(run, jury, by=None)
    control.rejudge(run, jury, by=None, allow_sealed_exposure=True)
    assert run.judge_runs.count() == 2


def test_the_api_judges_again_with_the_consent():
    run, jury = a_judged_run(), make_jury(make_model(api_base=OUTSIDE))
    script, address = client_of("maintainer"), f"/api/v1/runs/{run.pk}/rejudge/"
    assert script.post(address, {"jury": jury.pk}).status_code == 409
    assert script.post(address, {"jury": jury.pk, CONSENT: True}).status_code == 201


def test_the_page_asks_before_it_judges_again(client, maintainer):
    run, jury = a_judged_run(), make_jury(make_model(api_base=OUTSIDE))
    url = reverse("admin:runs_run_control", args=[run.pk])
    page = client.post(url, {"act": "rejudge", "jury": jury.pk}).content.decode()
    assert "1 of 2 tests is sealed" in page
    assert JudgeRun.objects.count() == 1
    frozen = snapshot(list(jury.judges.all()), None, name="")
    key = exposure_of_judge_run(run, frozen).key
    assert f'value="{key}"' in page
    client.post(url, {"act": "rejudge", "jury": jury.pk, CONSENT: key})
    assert JudgeRun.objects.count() == 2
