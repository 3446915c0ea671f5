import pytest

from evalhub.refusals import Refused
from runs.laboratory.trials.benchmarks.artifact_review import edit, expose, review
from runs.laboratory.trials.generation.generation_runs import start
from runs.laboratory.trials.models import Artifact, Claim, Review, Trial, Validity
from tests.factories import make_user
from tests.runs.laboratory.trials.generation.test_generation import order_of, small
from tests.runs.laboratory.trials.writers import write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def generated(provider, model_at, work):
    provider.script = write
    benchmark, model = small(), model_at()
    start(order_of(benchmark, model), by=None)
    work()
    return order_of(benchmark, model)


def test_an_edited_text_is_parsed_and_what_was_made_of_it_is_made_anew(generated, work):
    program = Artifact.objects.filter(kind="python")[0]
    before, summary = program.text, program.children.get()
    person = make_user()

    assert edit(program, "print('open new amber.'", by=person) == 1
    program.refresh_from_db()
    assert (program.review, program.reviewed_by) == (Review.EDITED, person)
    assert (program.validity, program.original) == (Validity.CORRUPTED, before)
    assert not Artifact.objects.filter(pk=summary.pk).exists()

    edit(program, "print('open new amber.')", by=person)
    start(generated, by=None)
    work()
    assert "open new amber" in program.children.get().text


def test_a_text_that_was_judged_is_not_edited(generated):
    left, right = Artifact.objects.filter(kind="summary", parent__kind="python")[:2]
    claim = Claim.objects.create(
        benchmark=left.benchmark,
        kind="different",
        left=left,
        right=right,
        truth=False,
        idea=left.idea,
        topic=left.idea.topic,
    )
    trial = Trial.objects.create(
        benchmark=left.benchmark, metric="overlap", threshold=0.5, method="m"
    )
    trial.judgments.create(claim=claim, order=0, state="done", score=0.5)

    for one in (left, left.parent):
        with pytest.raises(Refused, match="exclude it"):
            edit(one, "new", by=None)
    review(left, Review.EXCLUDED, reason="Wrong", by=None)
    assert Claim.objects.usable().count() == 0


def test_a_text_is_excluded_only_for_a_reason_and_can_be_taken_back(generated):
    one = Artifact.objects.first()
    with pytest.raises(Refused, match="Give a reason"):
        review(one, Review.EXCLUDED, by=None)
    review(one, Review.EXCLUDED, reason="Off topic", by=None)
    assert not Artifact.objects.usable().filter(pk=one.pk).exists()
    review(one, Review.PENDING, by=None)
    assert Artifact.objects.usable().filter(pk=one.pk).exists()


def test_what_developers_were_shown_is_marked_once(generated):
    ids = list(Artifact.objects.values_list("pk", flat=True)[:3])
    assert (expose(ids), expose(ids)) == (3, 0)
