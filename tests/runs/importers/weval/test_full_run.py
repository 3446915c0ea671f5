"""A blueprint on its whole way: imported, launched, answered, judged, scored."""

import pytest

from runs.demo.prepare import BLUEPRINT
from runs.importers.weval.batch_import import import_all
from runs.importers.weval.blueprint.files import find
from runs.launching.launch import launch
from runs.launching.launch_options import read_spec
from runs.models import Approach, Judgment
from tests.factories import make_jury
from tests.provider import is_judge, prompt, verdict

pytestmark = pytest.mark.django_db(transaction=True)

CLOSED = "We are closed on Sundays. Tuesday is fine."


@pytest.fixture
def run(provider, model_at, work):
    """The only run of the blueprint: all criteria are shown, as far as judges are asked."""
    provider.script = lambda r: verdict("FULLY_MET") if is_judge(r) else CLOSED
    (outcome,) = import_all(find([BLUEPRINT]), approve=True)
    suite = outcome.loaded.suite
    jury = make_jury(model_at(), approaches=(Approach.PROMPT_AWARE, Approach.HOLISTIC))
    chosen = {"label": "desk", "suite": suite.pk, "models": [model_at().pk], "jury": jury.pk}
    launched = launch(read_spec({**suite.defaults, **chosen}), by=None)
    work()
    return launched.runs.get()


def test_rubrics_with_everything_are_asked_checked_and_scored(run):
    scores = dict(run.results.values_list("test__source_id", "score"))

    # sunday: 3 and the check 1, the best way 1, invited 0, "open on sunday" is not said 1: 6 of 7
    # lost-card: the check 0, its price 1, and 2 · 0 for another fee: 1 of 4
    # poet: says so 1, long enough 0.5, a name 0: 1.5 of 2.5
    assert sorted(scores.values()) == pytest.approx([1 / 4, 1.5 / 2.5, 6 / 7])
    assert run.system_prompt.startswith("You answer visitors")


def test_two_turns_are_generated_and_judges_see_both(run, provider):
    result = run.results.get(weight=2)

    assert [turn["content"] for turn in result.answer.turns] == [CLOSED, CLOSED]
    asked = [prompt(r) for r in provider.requests if is_judge(r) and "lost my card" in prompt(r)]
    assert asked
    assert all(text.count(CLOSED) >= 2 for text in asked)


def test_each_criterion_is_asked_of_two_approaches_and_checks_of_nobody(run):
    judged = Judgment.objects.filter(result__run=run)
    assert judged.filter(judge=None).count() == 4
    assert judged.exclude(judge=None).count() == 2 * 9
    assert not judged.filter(state="failed").exists()
