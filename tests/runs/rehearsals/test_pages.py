import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from evalhub.models import BatchState, ItemState
from runs.models import Answer, Judgment
from runs.rehearsals.models import Attempt, Half, Publication, Rehearsal, Verdict
from runs.rehearsals.starting import draft_of
from runs.rehearsals.trying import try_draft
from tests.factories import make_user
from tests.runs.rehearsals.rows import AGREED, MIXED, decided, judge_of, rehearsal_of, template_of

pytestmark = pytest.mark.django_db

MARKER = "heldoutwords"


@pytest.fixture
def rehearsal():
    return rehearsal_of(decided(MIXED), seed=1)


@pytest.fixture
def maintainer(client):
    client.force_login(make_user("maintainer"))
    return client


def url(page, rehearsal):
    return reverse(f"admin:rehearsals_rehearsal_{page}", args=[rehearsal.pk])


def text_of(response):
    assert response.status_code == 200
    return response.content.decode()


def tried(rehearsal, value=1.0):
    """A complete try without any call, in which the judge says this of everything."""
    attempt = try_draft(rehearsal, draft_of(rehearsal, by=None), by=None)
    attempt.verdicts.update(
        state=ItemState.DONE, value=value, option=str(int(value)), justification="Tried words."
    )
    Attempt.objects.filter(pk=attempt.pk).update(state=BatchState.DONE)
    return attempt


def test_begin_says_how_many_there_are_before_it_begins(maintainer):
    run = decided(AGREED)
    page = reverse("admin:rehearsals_rehearsal_add")
    pair = f"{judge_of(run).pk}-{template_of(run).pk}"
    chosen = {"pair": pair, "people": "all"}
    assert "There are 8 verdicts of people" in text_of(maintainer.get(page, chosen))
    assert not Rehearsal.objects.exists()
    response = maintainer.post(page, chosen)
    rehearsal = Rehearsal.objects.get()
    assert response["Location"] == rehearsal.get_absolute_url()


def test_begin_comes_with_what_a_link_means(maintainer):
    decided(AGREED)
    run = decided(AGREED)
    page = reverse("admin:rehearsals_rehearsal_add")
    for query in ({"judge": judge_of(run).pk}, {"template": template_of(run).pk}):
        chosen = f'value="{judge_of(run).pk}-{template_of(run).pk}" selected'
        assert chosen in text_of(maintainer.get(page, query))


def test_too_few_are_said_and_nothing_begins(maintainer):
    run = decided([(1, 1)] * 3)
    chosen = {"pair": f"{judge_of(run).pk}-{template_of(run).pk}", "people": "all"}
    page = reverse("admin:rehearsals_rehearsal_add")
    assert "at least 8 answers" in text_of(maintainer.post(page, chosen))
    assert not Rehearsal.objects.exists()


def test_nothing_to_learn_from_is_said(maintainer):
    assert "nothing to learn from yet" in text_of(
        maintainer.get(reverse("admin:rehearsals_rehearsal_add"))
    )


def test_page_shows_both_halves(maintainer, rehearsal):
    tried(rehearsal)
    text = text_of(maintainer.get(rehearsal.get_absolute_url()))
    assert "Held-out half" in text
    assert "8, from 8 issues" in text
    assert "first look at the held-out half" in text


def test_disagreements_of_the_seen_half_are_read(maintainer, rehearsal):
    text = text_of(maintainer.get(url("seen", rehearsal)))
    differing = [p for p in rehearsal.precedents.filter(half="seen") if p.passed != p.judge_passed]
    assert differing
    for one in differing:
        assert f"Answer {one.result.test_id}." in text
        assert f"People say {int(one.value)} of {one.result.test_id}." in text
        assert f"The judge says {int(one.judge_value)} of {one.result.test_id}." in text
    agreed = [p for p in rehearsal.precedents.filter(half="seen") if p.passed == p.judge_passed]
    assert not any(f"Answer {one.result.test_id}." in text for one in agreed)


def test_disagreements_of_a_try(maintainer, rehearsal):
    tried(rehearsal, 1.0)
    text = text_of(maintainer.get(f"{url('seen', rehearsal)}?try=1"))
    failed = rehearsal.precedents.filter(half="seen", passed=False)
    assert all(f"Answer {one.result.test_id}." in text for one in failed)
    assert "Tried words." in text
    assert maintainer.get(f"{url('seen', rehearsal)}?try=9").status_code == 404


def test_no_page_shows_anything_of_the_held_out_half(maintainer, rehearsal):
    unseen = rehearsal.precedents.filter(half=Half.HELD_OUT)
    held_out = list(unseen.values_list("result", flat=True))
    Answer.objects.filter(result__in=held_out).update(text=MARKER)
    Judgment.objects.filter(result__in=held_out).update(justification=MARKER)
    for one in unseen:
        one.result.revision.content["messages"] = [{"role": "user", "content": MARKER}]
        one.result.revision.save()
        one.result.evaluations.update(justification=MARKER)
    tried(rehearsal)
    Verdict.objects.filter(precedent__half=Half.HELD_OUT).update(justification=MARKER)
    pages = [
        rehearsal.get_absolute_url(),
        url("seen", rehearsal),
        f"{url('seen', rehearsal)}?try=1",
        url("try", rehearsal),
        url("publish", rehearsal),
        url("progress", rehearsal),
        reverse("admin:rehearsals_rehearsal_changelist"),
    ]
    for page in pages:
        assert MARKER not in text_of(maintainer.get(page)), page


def test_example_of_the_seen_half_goes_into_the_draft(maintainer, rehearsal):
    one = rehearsal.precedents.filter(half=Half.SEEN).first()
    maintainer.post(url("example", rehearsal), {"precedent": one.pk})
    rehearsal.refresh_from_db()
    example = rehearsal.draft.examples.get()
    assert (example.test_id, example.output) == (
        one.result.test_id,
        f"Answer {one.result.test_id}.",
    )
    assert example.justification == f"People say {int(one.value)} of {one.result.test_id}."


def test_example_of_the_held_out_half_is_refused(maintainer, rehearsal):
    one = rehearsal.precedents.filter(half=Half.HELD_OUT).first()
    response = maintainer.post(url("example", rehearsal), {"precedent": one.pk}, follow=True)
    assert "held-out half" in text_of(response)
    rehearsal.refresh_from_db()
    assert rehearsal.draft is None


def test_sealed_answers_are_counted_and_not_shown(client, rehearsal):
    one = next(p for p in rehearsal.precedents.filter(half="seen") if p.passed != p.judge_passed)
    test = one.result.test
    type(test).objects.filter(pk=test.pk).update(sealed=True)
    viewer = make_user("viewer")
    grant(viewer, "rehearsals.view_rehearsal")
    client.force_login(viewer)
    text = text_of(client.get(url("seen", rehearsal)))
    assert f"Answer {one.result.test_id}." not in text
    assert "1 more is of sealed tests" in text


def grant(user, right):
    app, codename = right.split(".")
    user.user_permissions.add(
        Permission.objects.get(content_type__app_label=app, codename=codename)
    )


def test_wording_is_edited_and_nothing_typed_is_lost(maintainer, rehearsal):
    maintainer.post(url("wording", rehearsal))
    rehearsal.refresh_from_db()
    old = rehearsal.draft.text
    changed = "Be strict.\n\n" + old
    browsers = changed.replace("\n", "\r\n")
    maintainer.post(url("wording", rehearsal), {"text": browsers, "seen": old})
    rehearsal.draft.refresh_from_db()
    assert rehearsal.draft.text == changed
    late = text_of(maintainer.post(url("wording", rehearsal), {"text": "Mine.", "seen": old}))
    assert "Somebody has changed the draft meanwhile" in late
    assert "Mine." in late
    rehearsal.draft.refresh_from_db()
    assert rehearsal.draft.text == changed
    wrong = {"text": "{{ outptu }}", "seen": changed}
    assert "outptu" in text_of(maintainer.post(url("wording", rehearsal), wrong))


def test_try_is_confirmed_before_it_begins(maintainer, rehearsal):
    draft_of(rehearsal, by=None)
    assert "Ask 16 times" in text_of(maintainer.get(url("try", rehearsal)))
    assert not Attempt.objects.exists()
    maintainer.post(url("try", rehearsal))
    attempt = Attempt.objects.get()
    assert attempt.verdicts.count() == len(MIXED)
    text = text_of(maintainer.get(rehearsal.get_absolute_url()))
    assert f"{url('progress', rehearsal)}" in text
    act = {"act": "cancel", "try": attempt.pk}
    maintainer.post(url("act", rehearsal), act)
    attempt.refresh_from_db()
    assert attempt.state == BatchState.CANCELLED
    assert "Go on with the rest" in text_of(maintainer.get(rehearsal.get_absolute_url()))
    maintainer.post(url("act", rehearsal), {**act, "act": "resume"})
    attempt.refresh_from_db()
    assert attempt.is_live


def test_limit_of_a_try_that_stands_still_can_be_raised(maintainer, rehearsal):
    attempt = try_draft(rehearsal, draft_of(rehearsal, by=None), by=None)
    Attempt.objects.filter(pk=attempt.pk).update(state=BatchState.PAUSED, cost_limit_usd="0.5")
    assert 'name="cost_limit_usd"' in text_of(maintainer.get(rehearsal.get_absolute_url()))
    act = {"act": "resume", "try": attempt.pk}
    wrong = maintainer.post(url("act", rehearsal), {**act, "cost_limit_usd": "much"}, follow=True)
    assert "Enter a number" in text_of(wrong)
    maintainer.post(url("act", rehearsal), {**act, "cost_limit_usd": "2"})
    attempt.refresh_from_db()
    assert (attempt.state, attempt.cost_limit_usd) == (BatchState.LIVE, 2)


def test_untried_draft_needs_a_reason(maintainer, rehearsal):
    draft = draft_of(rehearsal, by=None)
    assert "Why it is published untried" in text_of(maintainer.get(url("publish", rehearsal)))
    maintainer.post(url("publish", rehearsal), {"reason": " "})
    assert not Publication.objects.exists()
    maintainer.post(url("publish", rehearsal), {"reason": "Only a comma."})
    assert Publication.objects.get(template=draft).reason == "Only a comma."


def test_figures_stand_on_the_published_versions_page(maintainer, rehearsal):
    attempt = tried(rehearsal)
    assert f"Try {attempt.number} asked with exactly this" in text_of(
        maintainer.get(url("publish", rehearsal))
    )
    maintainer.post(url("publish", rehearsal))
    publication = Publication.objects.get()
    text = text_of(maintainer.get(publication.template.get_absolute_url()))
    assert "When it was published" in text
    assert rehearsal.get_absolute_url() in text


def test_templates_page_leads_to_improving(maintainer, rehearsal):
    text = text_of(maintainer.get(rehearsal.template.get_absolute_url()))
    link = f"{reverse('admin:rehearsals_rehearsal_add')}?template={rehearsal.template.pk}"
    assert link in text


def test_annotator_looks_and_changes_nothing(client, rehearsal):
    draft_of(rehearsal, by=None)
    client.force_login(make_user("annotator"))
    text = text_of(client.get(rehearsal.get_absolute_url()))
    assert "Judge both halves again" not in text
    for page in ("try", "publish"):
        assert client.get(url(page, rehearsal)).status_code == 403
    for page in ("example", "wording", "act"):
        assert client.post(url(page, rehearsal)).status_code == 403
    assert client.get(reverse("admin:rehearsals_rehearsal_add")).status_code == 403


def test_pages_take_a_fixed_number_of_queries(maintainer, django_assert_max_num_queries, rehearsal):
    tried(rehearsal)
    for page, most in ((rehearsal.get_absolute_url(), 30), (url("seen", rehearsal), 25)):
        with django_assert_max_num_queries(most):
            assert maintainer.get(page).status_code == 200
