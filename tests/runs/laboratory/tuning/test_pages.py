import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from evalhub.models import BatchState, ItemState
from runs.laboratory.tuning.attempt_control import start_attempt
from runs.laboratory.tuning.models import Attempt, AttemptJudgment, Publication, Split, Tuning
from runs.laboratory.tuning.start import draft_of
from runs.models import Answer, Judgment
from tests.factories import make_user
from tests.runs.laboratory.tuning.rows import (
    AGREED,
    MIXED,
    judge_of,
    scored,
    template_of,
    tuning_of,
)

pytestmark = pytest.mark.django_db

MARKER = "heldoutwords"


@pytest.fixture
def tuning():
    return tuning_of(scored(MIXED), seed=1)


@pytest.fixture
def maintainer(client):
    client.force_login(make_user("maintainer"))
    return client


def url(page, tuning):
    return reverse(f"admin:tuning_tuning_{page}", args=[tuning.pk])


def text_of(response):
    assert response.status_code == 200
    return response.content.decode()


def attempted(tuning, value=1.0):
    """A complete attempt without calls, in which the judge gives this value to everything."""
    attempt = start_attempt(tuning, draft_of(tuning, by=None), by=None)
    attempt.judgments.update(
        state=ItemState.DONE, value=value, option=str(int(value)), justification="Attempt's reason."
    )
    Attempt.objects.filter(pk=attempt.pk).update(state=BatchState.DONE)
    return attempt


def test_start_is_prefilled_by_links_and_counts_answers_first(maintainer):
    scored(AGREED)
    run = scored(AGREED)
    page = reverse("admin:tuning_tuning_add")
    pair = f"{judge_of(run).pk}-{template_of(run).pk}"
    for query in ({"judge": judge_of(run).pk}, {"template": template_of(run).pk}):
        assert f'value="{pair}" selected' in text_of(maintainer.get(page, query))
    selection = {"pair": pair, "annotators": "all"}
    counted = text_of(maintainer.post(page, {**selection, "count": "1"}))
    assert "8 answers with a human verdict" in counted
    assert not Tuning.objects.exists()
    response = maintainer.post(page, selection)
    assert response["Location"] == Tuning.objects.get().get_absolute_url()


def test_too_few_answers_start_nothing(maintainer):
    run = scored([(1, 1)] * 3)
    selection = {"pair": f"{judge_of(run).pk}-{template_of(run).pk}", "annotators": "all"}
    page = reverse("admin:tuning_tuning_add")
    assert "at least 8 answers" in text_of(maintainer.post(page, selection))
    assert not Tuning.objects.exists()


def test_start_without_human_verdicts_explains_itself(maintainer):
    assert "No human verdicts to compare yet" in text_of(
        maintainer.get(reverse("admin:tuning_tuning_add"))
    )


def test_page_shows_both_splits(maintainer, tuning):
    attempted(tuning)
    text = text_of(maintainer.get(tuning.get_absolute_url()))
    assert "Held-out split" in text
    assert "8, from 8 issues" in text
    assert "first look at the held-out split" in text


def test_disagreements_of_the_development_split_are_read(maintainer, tuning):
    text = text_of(maintainer.get(url("disagreements", tuning)))
    differing = [
        p for p in tuning.examples.filter(split="development") if p.passed != p.judge_passed
    ]
    assert differing
    for one in differing:
        assert f"Answer {one.result.test_id}." in text
        assert f"Human: {int(one.value)} of {one.result.test_id}." in text
        assert f"The judge says {int(one.judge_value)} of {one.result.test_id}." in text
    agreed = [p for p in tuning.examples.filter(split="development") if p.passed == p.judge_passed]
    assert not any(f"Answer {one.result.test_id}." in text for one in agreed)


def test_disagreements_of_an_attempt(maintainer, tuning):
    attempted(tuning, 1.0)
    text = text_of(maintainer.get(f"{url('disagreements', tuning)}?attempt=1"))
    failed = tuning.examples.filter(split="development", passed=False)
    assert all(f"Answer {one.result.test_id}." in text for one in failed)
    assert "Attempt's reason." in text
    assert maintainer.get(f"{url('disagreements', tuning)}?attempt=9").status_code == 404


def test_no_page_shows_anything_of_the_held_out_split(maintainer, tuning):
    unseen = tuning.examples.filter(split=Split.HELD_OUT)
    held_out = list(unseen.values_list("result", flat=True))
    Answer.objects.filter(result__in=held_out).update(text=MARKER)
    Judgment.objects.filter(result__in=held_out).update(justification=MARKER)
    for one in unseen:
        one.result.revision.content["messages"] = [{"role": "user", "content": MARKER}]
        one.result.revision.save()
        one.result.evaluations.update(justification=MARKER)
    attempted(tuning)
    AttemptJudgment.objects.filter(labelled_example__split=Split.HELD_OUT).update(
        justification=MARKER
    )
    pages = [
        tuning.get_absolute_url(),
        url("disagreements", tuning),
        f"{url('disagreements', tuning)}?attempt=1",
        url("attempt", tuning),
        url("publish", tuning),
        f"{url('progress', tuning)}?attempt=1",
        reverse("admin:tuning_tuning_changelist"),
    ]
    for page in pages:
        assert MARKER not in text_of(maintainer.get(page)), page


def test_an_example_of_the_development_split_alone_goes_into_the_draft(maintainer, tuning):
    unseen = tuning.examples.filter(split=Split.HELD_OUT).first()
    sent = {"labelled_example": unseen.pk}
    assert "held-out split" in text_of(maintainer.post(url("example", tuning), sent, follow=True))
    tuning.refresh_from_db()
    assert tuning.draft is None

    one = tuning.examples.filter(split=Split.DEVELOPMENT).first()
    maintainer.post(url("example", tuning), {"labelled_example": one.pk})
    tuning.refresh_from_db()
    example = tuning.draft.examples.get()
    test = one.result.test_id
    assert (example.test_id, example.output) == (test, f"Answer {test}.")
    assert example.justification == f"Human: {int(one.value)} of {test}."


def test_sealed_answers_are_counted_and_not_shown(client, tuning):
    one = next(p for p in tuning.examples.filter(split="development") if p.passed != p.judge_passed)
    test = one.result.test
    type(test).objects.filter(pk=test.pk).update(sealed=True)
    viewer = make_user("viewer")
    right = Permission.objects.get(content_type__app_label="tuning", codename="view_tuning")
    viewer.user_permissions.add(right)
    client.force_login(viewer)
    text = text_of(client.get(url("disagreements", tuning)))
    assert f"Answer {one.result.test_id}." not in text
    assert "1 more on sealed tests is hidden" in text


def test_prompt_is_edited_and_no_input_is_lost(maintainer, tuning):
    maintainer.post(url("prompt", tuning))
    tuning.refresh_from_db()
    old = tuning.draft.text
    changed = "Be strict.\n\n" + old
    browsers = changed.replace("\n", "\r\n")
    maintainer.post(url("prompt", tuning), {"text": browsers, "seen": old})
    tuning.draft.refresh_from_db()
    assert tuning.draft.text == changed
    late = text_of(maintainer.post(url("prompt", tuning), {"text": "Mine.", "seen": old}))
    assert "Somebody else changed the draft" in late
    assert "Mine." in late
    tuning.draft.refresh_from_db()
    assert tuning.draft.text == changed
    wrong = {"text": "{{ outptu }}", "seen": changed}
    assert "outptu" in text_of(maintainer.post(url("prompt", tuning), wrong))


def test_attempt_is_confirmed_before_it_starts(maintainer, tuning):
    draft_of(tuning, by=None)
    assert "Start (16 calls)" in text_of(maintainer.get(url("attempt", tuning)))
    assert not Attempt.objects.exists()
    maintainer.post(url("attempt", tuning), {"start": 16})
    attempt = Attempt.objects.get()
    assert attempt.judgments.count() == len(MIXED)
    text = text_of(maintainer.get(tuning.get_absolute_url()))
    assert f"{url('progress', tuning)}?attempt=1" in text
    act = {"act": "cancel", "attempt": attempt.pk}
    maintainer.post(url("act", tuning), act)
    attempt.refresh_from_db()
    assert attempt.state == BatchState.CANCELLED
    assert 'value="resume"' in text_of(maintainer.get(tuning.get_absolute_url()))
    maintainer.post(url("act", tuning), {**act, "act": "resume"})
    attempt.refresh_from_db()
    assert attempt.is_live


def test_limit_of_a_paused_attempt_can_be_raised(maintainer, tuning):
    attempt = start_attempt(tuning, draft_of(tuning, by=None), by=None)
    Attempt.objects.filter(pk=attempt.pk).update(state=BatchState.PAUSED, cost_limit_usd="0.5")
    assert 'name="cost_limit_usd"' in text_of(maintainer.get(tuning.get_absolute_url()))
    act = {"act": "resume", "attempt": attempt.pk}
    wrong = maintainer.post(url("act", tuning), {**act, "cost_limit_usd": "much"}, follow=True)
    assert "Enter a number" in text_of(wrong)
    maintainer.post(url("act", tuning), {**act, "cost_limit_usd": "2"})
    attempt.refresh_from_db()
    assert (attempt.state, attempt.cost_limit_usd) == (BatchState.LIVE, 2)


def test_untested_draft_needs_a_reason(maintainer, tuning):
    draft = draft_of(tuning, by=None)
    assert 'name="reason"' in text_of(maintainer.get(url("publish", tuning)))
    maintainer.post(url("publish", tuning), {"reason": " "})
    assert not Publication.objects.exists()
    maintainer.post(url("publish", tuning), {"reason": "Only a comma."})
    assert Publication.objects.get(template=draft).reason == "Only a comma."


def test_published_version_shows_its_figures(maintainer, tuning):
    attempt = attempted(tuning)
    assert f"Attempt {attempt.number} tested exactly this" in text_of(
        maintainer.get(url("publish", tuning))
    )
    maintainer.post(url("publish", tuning))
    publication = Publication.objects.get()
    text = text_of(maintainer.get(publication.template.get_absolute_url()))
    assert "Figures at publication" in text
    assert tuning.get_absolute_url() in text


def test_templates_page_leads_to_improving(maintainer, tuning):
    text = text_of(maintainer.get(tuning.template.get_absolute_url()))
    link = f"{reverse('admin:tuning_tuning_add')}?template={tuning.template.pk}"
    assert link in text


def test_annotator_looks_and_changes_nothing(client, tuning):
    draft_of(tuning, by=None)
    client.force_login(make_user("annotator"))
    text = text_of(client.get(tuning.get_absolute_url()))
    assert url("attempt", tuning) not in text
    for page in ("attempt", "publish"):
        assert client.get(url(page, tuning)).status_code == 403
    for page in ("example", "prompt", "act"):
        assert client.post(url(page, tuning)).status_code == 403
    assert client.get(reverse("admin:tuning_tuning_add")).status_code == 403


def test_pages_take_a_fixed_number_of_queries(maintainer, django_assert_max_num_queries, tuning):
    attempted(tuning)
    for page, most in ((tuning.get_absolute_url(), 30), (url("disagreements", tuning), 25)):
        with django_assert_max_num_queries(most):
            assert maintainer.get(page).status_code == 200
