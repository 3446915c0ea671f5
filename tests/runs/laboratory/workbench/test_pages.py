"""Who sees and changes a workbench, what it opens with, and what leaves it."""

import json
from base64 import b64encode
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evalhub.refusals import Refused
from issues.drafting.decisions import accept, undo_last
from issues.drafting.start import start
from issues.models import Draft, JudgeTemplate, LibraryCriterion, TemplateExample
from issues.models import Test as Sample
from runs.laboratory.workbench.drafts import BenchDestination
from runs.laboratory.workbench.figures import figures_of
from runs.laboratory.workbench.judges import setup_of
from runs.laboratory.workbench.models import BenchRow, Workbench
from runs.laboratory.workbench.rows import add_rows, change_row
from tests.factories import (
    first_result,
    make_issue,
    make_model,
    make_template,
    make_test,
    make_user,
)
from tests.issues.drafting.writers import make_order
from tests.issues.pages import flashed_text, log_in
from tests.reports.judged_runs import answer
from tests.runs.laboratory.workbench.rows import (
    act,
    edit,
    evaluate,
    judge_of_fours,
    make_bench,
    url,
)

pytestmark = pytest.mark.django_db

GOOD, BAD = "It is four.", "It is five."


@pytest.fixture
def user(client):
    return log_in(client, "annotator")


def settings_of(bench, **changes):
    """What the page's script sends to save the settings."""
    sent = {
        "name": bench.name,
        "text": bench.text,
        "scale": json.dumps(bench.scale),
        "reply_form": bench.reply_form,
        "guidelines": bench.guidelines,
        "models": bench.judges["models"],
        "samples": 1,
        "criteria-TOTAL_FORMS": len(bench.criteria),
    }
    for number, each in enumerate(bench.criteria):
        fields = {
            "key": each["key"],
            "text": each["text"],
            "polarity": each["polarity"],
            "weight": each["weight"],
        }
        sent |= {f"criteria-{number}-{name}": value for name, value in fields.items()}
        sent |= {f"criteria-{number}-order": number + 1}
    return sent | changes


# Whose it is --------------------------------------------------------------------------------------


def test_it_is_its_owners_until_shared_and_then_read_only(client, user, model_at):
    bench = make_bench(user, model_at(), answers=[(GOOD, {})])
    page = bench.get_absolute_url()
    assert client.get(page).status_code == 200

    other = log_in(client, "annotator")
    assert client.get(page).status_code == 404
    Workbench.objects.update(is_shared=True)
    shown = client.get(page)
    assert "read only" in shown.content.decode()
    assert client.post(url("settings", bench.pk), settings_of(bench)).status_code == 403
    assert client.post(url("evaluate", bench.pk)).status_code == 403
    assert client.post(url("delete", bench.pk), {"post": "yes"}).status_code == 403

    client.post(url("act", bench.pk), {"act": "duplicate"})
    copy = Workbench.objects.get(owner=other)
    assert (copy.rows.count(), copy.is_shared) == (1, False)
    log_in(client, "maintainer")
    sent = settings_of(bench, name="Ours", is_shared="on")
    assert "rows" in client.post(url("settings", bench.pk), sent).json()
    client.post(url("delete", bench.pk), {"post": "yes"})
    assert not Workbench.objects.filter(pk=bench.pk).exists()


def test_an_application_is_no_judge_of_a_workbench(client, user, model_at):
    application = make_model(
        name="Support desk", kind="application", litellm_model="", api_base="http://x"
    )
    bench = make_bench(user, application, model_at(), answers=[(GOOD, {})])
    assert application.pk not in [each.judge.endpoint.language_model_id for each in judges(bench)]
    assert "Support desk" not in client.get(bench.get_absolute_url()).content.decode()
    sent = settings_of(bench, models=[application.pk])
    assert "models: Select" in client.post(url("settings", bench.pk), sent).json()["problems"][0]


def judges(bench):
    return setup_of(bench).judges


def test_edits_of_a_row_of_a_sealed_test_name_it_and_an_example_has_none(client, user, model_at):
    bench = make_bench(user, model_at(), answers=[(GOOD, {})])
    test = make_test(sealed=True)
    BenchRow.objects.update(test=test)
    row = bench.rows.get()
    shown = client.get(bench.get_absolute_url()).content.decode()
    assert f'data-eh-edits-of="row {row.pk} answer" data-eh-test="{test.pk}"' in shown
    example = TemplateExample.objects.create(
        template=make_template(state="draft"), output=GOOD, option="1"
    )
    BenchRow.objects.update(example=example)
    assert "data-eh-edits-of" not in client.get(bench.get_absolute_url()).content.decode()


def test_rows_and_settings_of_sealed_tests_are_for_their_readers(client, user, model_at):
    bench = make_bench(user, model_at(), answers=[("sealedwords", {}), (GOOD, {})])
    BenchRow.objects.filter(answer="sealedwords").update(test=make_test(sealed=True))
    Workbench.objects.update(is_shared=True)
    assert "sealedwords" in client.get(bench.get_absolute_url()).content.decode()
    log_in(client, "viewer")
    shown = client.get(bench.get_absolute_url()).content.decode()
    assert "1 row of sealed tests is hidden" in shown
    assert "sealedwords" not in shown
    for file_format in ("csv", "json", "jsonl", "py", "ipynb"):
        file = client.get(url("export", bench.pk, file_format))
        assert file.status_code == 200
        assert b"sealedwords" not in file.content

    Workbench.objects.update(test=make_test(sealed=True))
    assert client.get(bench.get_absolute_url()).status_code == 404


def test_an_edit_does_not_overwrite_somebody_elses(client, user, model_at):
    bench = make_bench(user, model_at(), answers=[(GOOD, {})])
    row = bench.rows.get()
    edit(client, row, answer="Mine.")
    refused = act(client, bench, row, "save", version=0, answer="Theirs.")
    assert "Somebody else changed this row" in refused["problems"][0]
    row.refresh_from_db()
    assert row.answer == "Mine."


# What it opens with -------------------------------------------------------------------------------


def test_a_test_opens_with_its_reference_and_flagged_answer(client, user, model_at):
    model_at()
    test = make_test(reference=GOOD, flagged_answer=BAD)
    assert "Try in workbench" in client.get(test.get_absolute_url()).content.decode()
    client.post(url("start"), {"test": test.pk})
    bench = Workbench.objects.get()
    assert bench.source == test.template
    rows = [(row.answer, row.expected, row.test_id) for row in bench.rows.all()]
    assert rows == [(GOOD, {"": "1"}, test.pk), (BAD, {"": "0"}, test.pk)]


def test_a_criterion_a_template_and_a_library_entry_open_one(client, user):
    test = make_test(criteria=[{"text": "Says four"}, {"text": "Is brief"}])
    template = make_template()
    client.post(url("start"), {"test": test.pk, "criterion": test.criteria.last().key})
    client.post(url("start"), {"template": template.pk})
    entry = LibraryCriterion.objects.get(key="answers-the-question")
    assert "Try in workbench" in client.get(entry.get_absolute_url()).content.decode()
    client.post(url("start"), {"library": entry.pk})
    by_library, by_template, by_criterion = Workbench.objects.order_by("-pk")
    assert [each["text"] for each in by_criterion.criteria] == ["Is brief"]
    assert by_template.text == template.text
    assert entry.question in by_library.text
    assert by_library.rows.all()[0].expected == {"": entry.examples["passing"]["option"]}


def test_criteria_go_to_the_library_with_labelled_answers(client, user, model_at):
    criteria = [{"text": "Says four"}, {"text": "Is rude", "polarity": "should_not"}]
    bench = make_bench(user, model_at(), answers=[(GOOD, {}), (BAD, {})], criteria=criteria)
    key = bench.criteria[0]["key"]
    for row, option in zip(bench.rows.all(), ("FULLY_MET", "UNMET"), strict=True):
        row.expected = {key: option}
        row.save()
    client.post(url("act", bench.pk), {"act": "library"})
    brief = LibraryCriterion.objects.get(question="Says four")
    answers = {role: example["answer"] for role, example in brief.examples.items()}
    assert answers == {"passing": GOOD, "failing": BAD}
    rude = LibraryCriterion.objects.get(question="Is rude")
    assert rude.scale["options"][0] == {"label": "UNMET", "value": 1.0} | {
        "description": rude.scale["options"][0]["description"]
    }


def test_results_become_rows_without_their_verdicts(client, user, run_with_answer):
    result = first_result(run_with_answer)
    sent = {"action": "try_in_workbench", "_selected_action": [result.pk]}
    results = "/admin/runs/result/"
    assert "a new workbench" in client.post(results, sent).content.decode()
    client.post(results, sent | {"workbench": "new"})
    row = Workbench.objects.get().rows.get()
    assert (row.answer, row.expected, row.result) == (result.answer.text, {}, result)


@pytest.fixture
def run_with_answer():
    from tests.factories import make_run

    run = make_run(make_test())
    answer(run, GOOD)
    return run


def test_a_draft_says_what_it_was_meant_to_be_and_expects_nothing(client, user, model_at):
    bench, writer = make_bench(user, judge := model_at()), model_at()
    page = client.get(bench.get_absolute_url()).content.decode()
    address = f"{reverse('admin:issues_generation_add')}?workbench={bench.pk}"
    assert f'href="{address}"' in page
    form = client.get(address).content.decode()
    assert f"Generate rows for the workbench “{bench}”" in form
    sent = {"option-TOTAL_FORMS": 2, "option-INITIAL_FORMS": 2, "criterion": "Right", "pairs": 1}
    for n, label in enumerate(("1", "0")):
        sent |= {f"option-{n}-label": label, f"option-{n}-value": label}
        sent |= {f"option-{n}-quantity": 1}
    sent |= {"task": "generic", "workbench": bench.pk}
    refused = client.post(address, sent | {"generator": judge.pk})
    assert "judges in this workbench" in refused.content.decode() + str(flashed_text(refused))
    client.post(address, sent | {"generator": writer.pk})

    asked = [{"role": "user", "content": "2 + 2?"}]
    Draft.objects.update(state="done", messages=asked, answer=BAD)
    good, bad, pair = Draft.objects.order_by("pk")
    Draft.objects.filter(pk=pair.pk).update(second_answer=GOOD)
    generation = good.generation
    accept(good, expected="", by=user)
    accept(bad, expected="0", by=user)
    accept(pair, expected="first", by=user)
    rows = [(row.intended, row.expected, row.answer) for row in bench.rows.all()]
    assert rows == [("1", {}, BAD), ("0", {"": "0"}, BAD), ("1", {}, BAD), ("0", {}, GOOD)]
    assert not Sample.objects.exists()
    page = client.get(bench.get_absolute_url()).content.decode()
    assert "meant to be: 0" in page
    assert generation.get_absolute_url() in page
    ids = [good.pk, bad.pk, pair.pk]
    undo_last(ids, by=user)
    assert bench.rows.count() == 2
    change_row(bench.rows.last(), {"answer": GOOD}, seen=0)
    with pytest.raises(Refused, match="Row 2 was changed or judged since"):
        undo_last(ids, by=user)
    with pytest.raises(Refused, match="may not change the workbench"):
        accept(pair, expected="first", by=make_user("annotator"))


def test_rows_of_drafts_from_a_sealed_test_are_sealed(client, user, model_at):
    bench, test = make_bench(user), make_test(sealed=True)
    bench.test = test
    bench.save()
    form = client.get(f"{reverse('admin:issues_generation_add')}?workbench={bench.pk}")
    assert form.context["form"].test == test, "the drafts' calls carry its criteria"
    about = {"test": test, "issue": test.issue, "destination": BenchDestination(bench)}
    generation = start(make_order(model_at(), **about), by=None)
    asked = [{"role": "user", "content": "2 + 2?"}]
    Draft.objects.update(state="done", messages=asked, answer=BAD)
    accept(generation.drafts.first(), expected="Yes", by=user)
    row = bench.rows.get()
    assert (row.test, row.expected) == (test, {})


# Settings -----------------------------------------------------------------------------------------


def test_criteria_keep_their_judgments_when_moved_or_reworded(client, user, provider, model_at):
    criteria = [{"text": "Says four"}, {"text": "Is brief"}]
    bench = make_bench(user, model_at(), answers=[(GOOD, {})], criteria=criteria)
    keys = [each["key"] for each in bench.criteria]
    moved = settings_of(bench) | {"criteria-0-order": 2, "criteria-1-order": 1}
    moved |= {"criteria-0-text": "Says 4"}
    assert client.post(url("settings", bench.pk), moved).json()["keys"] == keys[::-1]
    bench.refresh_from_db()
    assert [(c["key"], c["text"]) for c in bench.criteria] == [
        (keys[1], "Is brief"),
        (keys[0], "Says 4"),
    ]


def test_an_unedited_prompt_follows_the_criteria_and_an_edited_one_does_not(client, user, model_at):
    bench = make_bench(user, model_at(), answers=[(GOOD, {})])
    criterion = {"criteria-TOTAL_FORMS": 1, "criteria-0-text": "Says four"}
    criterion |= {"criteria-0-polarity": "should", "criteria-0-weight": 1}
    crlf = bench.text.replace("\n", "\r\n")
    sent = settings_of(bench, text=crlf, **criterion)
    assert client.post(url("settings", bench.pk), sent).json()["reload"] is True
    bench.refresh_from_db()
    assert "{{ criterion }}" in bench.text

    edited = settings_of(bench, text=bench.text + "Be strict.", **{"criteria-TOTAL_FORMS": 0})
    refused = client.post(url("settings", bench.pk), edited).json()
    assert "asks about one criterion" in refused["problems"][0]
    bad = settings_of(bench, text="{{ nothing }} {{ output }} {{ criterion }}")
    assert "nothing" in str(client.post(url("settings", bench.pk), bad).json()["problems"])


# What leaves it -----------------------------------------------------------------------------------


def test_rows_become_one_draft_test_per_input(client, user, model_at):
    answers = [(GOOD, {"": "1"}), (BAD, {"": "0"})]
    bench, issue = make_bench(user, model_at(), answers=answers), make_issue()
    chosen = [row.pk for row in bench.rows.all()]
    sent = {"act": "tests", "row": chosen}
    assert "Create draft tests" in client.post(url("act", bench.pk), sent).content.decode()
    client.post(url("act", bench.pk), sent | {"issue": issue.pk})
    test = Sample.objects.get(issue=issue)
    assert (test.state, test.reference, test.flagged_answer) == ("draft", GOOD, BAD)
    assert (test.template, test.author) == (bench.source, user)


def test_only_who_edits_templates_makes_drafts_and_examples(client, user, model_at):
    bench = make_bench(user, model_at(), answers=[(GOOD, {"": "1"})])
    assert client.post(url("act", bench.pk), {"act": "template"}).status_code == 403
    refused = act(client, bench, bench.rows.get(), "example")
    assert "right to change judge templates" in refused["problems"][0]
    assert TemplateExample.objects.count() == 0


def test_a_draft_follows_its_template_as_the_next_version(client, model_at):
    maintainer = log_in(client, "maintainer")
    bench = make_bench(maintainer, model_at())
    bench.text += "Be strict."
    bench.save()
    client.post(url("act", bench.pk), {"act": "template"})
    bench.refresh_from_db()
    assert (bench.draft.family, bench.draft.version) == (bench.source.family, 2)
    assert bench.draft.text == bench.text
    client.post(url("act", bench.pk), {"act": "template"})
    assert JudgeTemplate.objects.filter(family=bench.source.family).count() == 2


# Files --------------------------------------------------------------------------------------------


def test_its_own_export_is_read_back(client, user, provider, model_at):
    provider.script = judge_of_fours
    criteria = [{"text": "Says four", "mandatory": True}, {"text": "Is brief"}]
    bench = make_bench(user, model_at(), answers=[(GOOD, {}), (BAD, {})], criteria=criteria)
    key = bench.criteria[0]["key"]
    bench.rows.update(expected={key: "FULLY_MET"}, context="Sums.")
    file = client.get(url("export", bench.pk, "json"))
    other = make_bench(user, model_at())

    upload = SimpleUploadedFile("sums.json", file.content)
    preview = client.post(url("upload", other.pk), {"file": upload}).content.decode()
    assert "sums.json: 2 rows" in preview
    data = preview.split('name="data" value="')[1].split('"')[0]
    sent = {"act": "import", "name": "sums.json", "data": data, "settings": "yes"}
    client.post(url("upload", other.pk), sent)
    other.refresh_from_db()
    assert other.criteria == bench.criteria
    fields = ("messages", "answer", "context", "expected")
    assert [*other.rows.values_list(*fields)] == [*bench.rows.values_list(*fields)]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_conversations_survive_every_file(client, user, model_at, kind):
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None}]
    talk += [{"role": "user", "content": "And 2 + 2?"}]
    bench, other = make_bench(user, answers=[(GOOD, {})]), make_bench(user)
    add_rows(bench, [{"messages": talk, "turns": ["Hello."], "answer": GOOD}])
    file = client.get(url("export", bench.pk, kind)).content
    client.post(
        url("upload", other.pk),
        {"act": "import", "name": f"sums.{kind}", "data": b64encode(file).decode()},
    )
    fields = ("messages", "turns", "answer")
    assert [*other.rows.values_list(*fields)] == [*bench.rows.values_list(*fields)]


def test_pasted_rows_are_previewed_and_wrong_ones_named(client, user, model_at):
    bench = make_bench(user, model_at())
    pasted = "question\tresponse\tlabel\nWhat is 2 + 2?\tFour.\t1\n\t\t\nonly two\tcells\n"
    preview = client.post(url("upload", bench.pk), {"pasted": pasted}).content.decode()
    assert "pasted.csv: 1 row" in preview
    assert "has 2 cells, expected 3" in preview
    assert bench.rows.count() == 0
    data = preview.split('name="data" value="')[1].split('"')[0]
    client.post(url("upload", bench.pk), {"act": "import", "name": "pasted.csv", "data": data})
    row = bench.rows.get()
    assert (row.input, row.answer, row.expected) == ("What is 2 + 2?", "Four.", {"": "1"})


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"rows": [{"messages": [{"text": "Hi"}], "answer": GOOD}]}, "message 1: role null"),
        ({"rows": [{"input": "Hi\ud800", "answer": GOOD}]}, "cannot be stored"),
        ({"workbench": {"criteria": [{"text": "Short", "weight": "much"}]}}, "must be a float"),
        ({"workbench": {"criteria": [7]}}, "are not valid"),
        ({"workbench": {"text": "x" * 30_000}}, "more than the 20,000"),
    ],
)
def test_a_file_that_no_page_could_show_is_refused(client, user, model_at, sent, problem):
    bench = make_bench(user, model_at())
    data = b64encode(json.dumps({"rows": [{"input": "Hi", "answer": GOOD}]} | sent).encode())
    fields = {"act": "import", "settings": "yes", "name": "a.json", "data": data.decode()}
    response = client.post(url("upload", bench.pk), fields)
    assert problem in unescape(response.content.decode()) + str(flashed_text(response))
    assert not bench.rows.exists()
    answered = client.post(url("settings", bench.pk), settings_of(bench, text="x" * 30_000))
    assert "more than the 20,000" in answered.json()["problems"][0]


def test_a_duplicate_is_not_asked_again(client, user, provider, model_at):
    provider.script = judge_of_fours
    bench = make_bench(user, model_at(), answers=[(GOOD, {"": "1"})])
    evaluate(client, bench)
    assert "added" in act(client, bench, bench.rows.get(), "duplicate")
    client.post(url("act", bench.pk), {"act": "duplicate"})
    copy = Workbench.objects.exclude(pk=bench.pk).get()
    figures = figures_of(setup_of(copy), copy, list(copy.rows.all()))
    assert (figures.missing, figures.judges[0].agreement[:2]) == (0, (2, 2))
    assert provider.total == 1


def test_the_exact_prompt_is_shown(client, user, provider, model_at):
    provider.script = judge_of_fours
    bench = make_bench(user, model_at(), answers=[(GOOD, {})])
    evaluate(client, bench)
    shown = client.get(f"{url('prompt', bench.pk)}?row={bench.rows.get().pk}")
    (prompt,) = shown.context["prompts"]
    assert prompt.messages == provider.requests[0]["messages"]


def test_a_role_without_rights_sees_none(client):
    client.force_login(make_user())
    assert client.get(url("changelist")).status_code == 403
