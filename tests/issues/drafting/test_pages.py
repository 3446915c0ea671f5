"""The form for drafts, the decisions on them, and edits: what is refused, counted and kept."""

import json
from decimal import Decimal
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from evalhub.models import Exposure
from evalhub.refusals import Refused
from issues.drafting.decisions import accept, undo_last
from issues.drafting.figures import figures_of
from issues.drafting.start import LATER_BATCH, start
from issues.models import Draft, Edit, Generation, LibraryCriterion
from issues.models import Test as Sample
from runs.result_list.filters import Filters
from runs.result_list.listing import Listing
from tests.factories import make_issue, make_jury, make_model, make_run, make_test, make_user
from tests.issues.drafting.writers import make_order, make_settings
from tests.issues.pages import flashed_text, log_in, url

pytestmark = pytest.mark.django_db

KEY = "answers-the-question"


@pytest.fixture
def annotator(client):
    return log_in(client, "annotator")


def sent(issue, generator, **changes):
    rows = [("Yes", "1", "1"), ("No", "0", "1"), ("", "", "")]
    form: dict[str, object] = {"option-TOTAL_FORMS": 3, "option-INITIAL_FORMS": 2}
    for n, (label, value, quantity) in enumerate(rows):
        form |= {f"option-{n}-label": label, f"option-{n}-value": value}
        form |= {f"option-{n}-quantity": quantity}
    about = {"issue": issue.pk, "generator": generator.pk, "criterion": "Polite"}
    return form | about | {"task": "generic"} | changes


def done(**fields):
    """A batch whose drafts are written: a Yes, a No."""
    fields.setdefault("generator", None) or fields.update(generator=make_model())
    generation = start(make_order(fields.pop("generator"), **fields), by=None)
    Generation.objects.filter(pk=generation.pk).update(state="done", prepared_at=timezone.now())
    for draft in generation.drafts.all():
        draft.messages = [{"role": "user", "content": "When?"}]
        draft.state, draft.answer, draft.label = "done", f"{draft.meant} it is.", "Yes"
        draft.save()
    generation.refresh_from_db()
    return generation


# Asking ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"option-0-quantity": "0", "option-1-quantity": "0"}, "All quantities are 0"),
        ({"option-1-label": "yes"}, "Two options are called"),
        ({"option-1-value": ""}, "needs a value from 0 to 1"),
        ({"option-1-value": "1"}, "every option"),
        ({"option-0-quantity": "11"}, "12 drafts are too many"),
        ({"variables": "a_b, A b"}, "Two fields have the same name"),
        ({"issue": ""}, "Choose the issue"),
    ],
)
def test_a_form_that_cannot_be_drafted_starts_nothing(client, annotator, changes, problem):
    response = client.post(url("generation_add"), sent(make_issue(), make_model()) | changes)

    page = response.content.decode() + "".join(flashed_text(response))
    assert problem in page
    assert not Generation.objects.exists()


def test_a_form_starts_a_batch_within_what_is_left_today(client, annotator, settings):
    settings.EVALHUB_DRAFT_LIMIT_USD = 2
    prices = {"input_usd_per_mtok": Decimal(1), "output_usd_per_mtok": Decimal(1)}
    issue, model = make_issue(), make_model(**prices)

    client.post(url("generation_add"), sent(issue, model, cost_limit_usd="1.5"))
    client.post(url("generation_add"), sent(issue, model, cost_limit_usd="1.5"))
    response = client.post(url("generation_add"), sent(issue, model))

    limits = Generation.objects.order_by("pk").values_list("cost_limit_usd", flat=True)
    assert [*limits] == [Decimal("1.5"), Decimal("0.5")]
    assert "You have spent today’s limit" in response.content.decode() + str(flashed_text(response))
    assert Draft.objects.filter(state="pending", expected="").count() == 4


def test_the_form_is_filled_from_what_it_was_opened_from(client, annotator):
    test = make_test(guidelines="Say nine.", issue=make_issue(title="Hours", description="Wrong."))
    test.template.title = "Right?"

    page = client.get(f"{url('generation_add')}?test={test.pk}").content.decode()
    ready = LibraryCriterion.objects.get(key=KEY)
    address = f"{url('generation_add')}?library={KEY}"
    assert f'href="{address}"' in client.get(ready.get_absolute_url()).content.decode()
    library = client.get(address).content.decode()
    template = client.get(f"{url('generation_add')}?template={test.template_id}").content.decode()

    new = client.get(url("generation_add")).content.decode()

    assert "option-1-label" in new  # a scale has at least two
    assert "option-__prefix__-label" in new
    assert "Free of: Hours" in page
    assert "Say nine." in page
    assert ready.question in unescape(library)
    assert '<select name="issue"' in library
    assert '<select name="issue"' not in page
    assert "The output passes" in template


def test_a_sealed_example_is_sent_outside_only_after_a_yes(client, annotator, settings):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    issue, model = make_issue(), make_model()
    test = make_test(issue=issue, sealed=True)
    form = sent(issue, model, examples=[test.pk])

    page = client.post(url("generation_add"), form).content.decode()
    assert "is sealed and would be sent to" in page
    assert not Generation.objects.exists()
    key = page.split('name="consent" value="')[1].split('"')[0]
    client.post(url("generation_add"), form | {"consent": key})

    generation = Generation.objects.get()
    assert [*generation.sources.all()] == [test]
    Draft.objects.update(state="done", answer="Yes.", messages=[{"role": "user", "content": "?"}])
    made = accept(generation.drafts.first(), expected="Yes", by=annotator)
    assert made.sealed


def test_documents_are_kept_while_the_form_is_corrected(client, annotator):
    issue, model = make_issue(), make_model()
    file = SimpleUploadedFile("hours.md", b"Open at nine.")
    page = client.post(
        url("generation_add"), sent(issue, model, criterion="", documents=file)
    ).content.decode()
    kept = page.split('name="kept_documents" value="')[1].split('"')[0]

    client.post(url("generation_add"), sent(issue, model, kept_documents=kept))

    passage = Generation.objects.get().passage
    assert passage == {"document": "hours.md", "page": 0, "text": "Open at nine."}


def test_a_generator_must_be_independent_or_overruled_in_words():
    generator, candidate = make_model(family="Owl"), make_model(family="Owl")
    issue = make_issue()
    make_jury(generator, name="Two eyes")
    make_run(make_test(issue=issue), model=candidate)

    with pytest.raises(Refused) as refused:
        start(make_order(generator, issue=issue), by=None)
    assert "judges in Two eyes" in str(refused.value)
    assert "is of the family of" in str(refused.value)
    assert start(make_order(generator, issue=issue, overruled="A try."), by=None).overruled
    with pytest.raises(Refused, match="cannot label its own drafts"):
        start(make_order(make_model(), generator), by=None) and start(
            make_order(generator, generator, overruled="A try."), by=None
        )


def test_an_application_writes_labels_and_edits_nothing(client, annotator):
    application = make_model(
        name="Support desk", kind="application", litellm_model="", api_base="http://x"
    )

    assert "Support desk" not in client.get(url("generation_add")).content.decode()
    assert client.get(url("test_edit")).json()["models"] == []
    edit = {"act": "propose", "model": application.pk, "action": "shorten", "text": "ten"}
    assert "Choose a model" in client.post(url("test_edit"), edit).json()["error"]
    client.post(url("generation_add"), sent(make_issue(), application))
    assert not Generation.objects.exists()
    with pytest.raises(Refused, match="is an HTTP application"):
        start(make_order(make_model(), application), by=None)


def test_more_like_these_needs_an_accepted_draft_and_takes_it_as_example():
    user, first = make_user("annotator"), done()
    many = make_settings(LATER_BATCH // 2, LATER_BATCH // 2)
    order = make_order(first.generator, settings=many, issue=first.issue, follows=first)
    with pytest.raises(Refused, match="Accept a draft of the batch first"):
        start(order, by=None)

    accept(first.drafts.first(), expected="Yes", by=user)

    assert start(order, by=None).drafts.count() == LATER_BATCH


# Deciding ----------------------------------------------------------------------------------------


def test_a_test_exists_only_once_a_person_accepts_and_an_undo_takes_it_back():
    user, issue = make_user("annotator"), make_issue()
    known = make_test(issue=issue, criteria=[{"text": "names an hour"}])
    generation = done(issue=issue)
    yes, no = generation.drafts.order_by("pk")

    passing = accept(yes, expected="Yes", by=user)
    failing = accept(no, expected="No", by=user)
    assert isinstance(passing, Sample)
    assert isinstance(failing, Sample)

    assert (passing.reference, passing.flagged_answer) == ("Yes it is.", "")
    assert (failing.reference, failing.flagged_answer) == ("", "No it is.")
    assert (passing.origin, passing.state, passing.reference_by) == ("generated", "draft", "model")
    assert passing.template == known.template
    assert [c.text for c in passing.criteria.all()] == ["names an hour"]
    with pytest.raises(Refused, match="was accepted by"):
        accept(yes, expected="", by=user)
    assert undo_last([yes.pk, no.pk], by=user) == no
    assert not Sample.objects.filter(pk=failing.pk).exists()
    no.refresh_from_db()
    assert (no.decision, no.expected, no.test) == ("proposed", "", None)
    changed = Sample.objects.get(pk=passing.pk)
    changed.guidelines = "Changed."
    changed.save()
    with pytest.raises(Refused, match="was changed or used since"):
        undo_last([yes.pk, no.pk], by=user)


def test_figures_count_form_hits_and_acceptance_of_each_generator():
    user, generation = make_user("annotator"), done()
    yes, _ = generation.drafts.order_by("pk")
    Draft.objects.filter(pk=yes.pk).update(failures=[{"asked": "a", "reason": "b", "reply": "c"}])
    accept(yes, expected="No", by=user)

    (figures,) = figures_of(generation.drafts.select_related("generation__generator"))

    assert (figures.in_form, figures.ended) == (1, 2)
    assert (figures.hits, figures.labelled) == (1, 2)
    assert (figures.accepted, figures.decided) == (1, 1)


def test_results_of_synthetic_tests_are_filtered_and_launches_leave_them_out():
    from runs.launching.launch_options import read_spec
    from runs.launching.launch_selection import chosen

    human, synthetic = make_test(), make_test(origin="generated")
    run = make_run(human, synthetic)
    user = make_user("viewer")
    listing = Listing(run, None, user)
    found = {
        o: [*listing.matching(Filters(origin=o)).values_list("test", flat=True)]
        for o in ("human", "synthetic")
    }
    assert found == {"human": [human.pk], "synthetic": [synthetic.pk]}
    spec = {"label": "x", "models": [1], "tests": [human.pk, synthetic.pk]}
    kept = chosen(read_spec(spec | {"without_synthetic": True})).named
    assert [test.pk for test in kept] == [human.pk]


# Edits -------------------------------------------------------------------------------------------


@pytest.fixture
def change(client, annotator):
    def post(**fields):
        return client.post(url("test_edit"), fields).json()

    return post


def test_an_edit_of_a_sealed_test_asks_first_and_writes_the_exposure(
    change, model_at, provider, settings
):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    provider.script = lambda request: json.dumps({"replacement": "nine"})
    test = make_test(sealed=True)
    fields = {"act": "propose", "model": model_at().pk, "action": "shorten", "test": test.pk}
    fields |= {"text": "ten or so", "start": 0, "end": 3, "field": f"test {test.pk} guidelines"}

    asked = change(**fields)
    assert "is sealed and would be sent to 127.0.0.1" in asked["words"]
    assert provider.total == 0
    found = change(**fields, consent=asked["consent"])

    assert found["after"] == "nine"
    assert Exposure.objects.get().test == test.pk
    assert Edit.objects.get().test == test
    assert "Save the test first" in change(**fields | {"test": "", "sealed": "1"})["error"]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"end": 0}, "Select some text first"),
        ({"action": "own"}, "Enter an instruction"),
        ({"action": "paint"}, "no action 'paint'"),
        ({"model": 0}, "Choose a model"),
    ],
)
def test_an_edit_that_cannot_be_asked_for_says_why(change, fields, problem):
    base = {"act": "propose", "model": make_model().pk, "action": "shorten"}
    base |= {"text": "ten", "start": 0, "end": 3, "field": "x"}
    assert problem in change(**base | fields)["error"]


def test_a_decided_edit_stays_decided(change, annotator):
    edit = Edit.objects.create(
        field="f",
        action="shorten",
        start=0,
        before="ten",
        after="nine",
        language_model=make_model(),
        by=annotator,
    )
    assert change(act="accept", edit=edit.pk) == {"done": "accept"}
    assert "decided before" in change(act="reject", edit=edit.pk)["error"]
    undone = change(act="undo", field="f", text="nine")
    assert undone == {"start": 0, "end": 4, "before": "ten"}
    assert "no edit to undo" in change(act="undo", field="f", text="ten")["error"]
