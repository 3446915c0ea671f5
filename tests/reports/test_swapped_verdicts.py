"""Verdicts that change places: all sums stay as they were, and every figure is a new one."""

import pytest
from django.urls import reverse

from reports.documents.reading import COMPUTE
from reports.models import Capability, CapabilityWeight
from runs.figures.run_tallies import count_due
from runs.models import Judgment, ResultScore, Run, Suite
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from runs.scoring.score import score_result_scores
from tests.factories import make_issue, make_model, make_run, make_test, make_user, shared_jury
from tests.reports.judged_runs import answer, finish, judge
from tests.reports.scored_runs import make_suite, scored_run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_nothing_kept")]

OLD = [1, 0, 0, 1, 1, 1, 1, 1, 1, 1]
NEW = [1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
SWAPPED = [0, 1, 1, 0, *NEW[4:]]
P = (
    ("0.0156", "0.016", "0.031", "Beta is first"),
    ("0.065", "0.11", "0.109", "Cannot tell which model is first"),
)
"""Against OLD: 6 worse and 0 better, 1 / 2⁶ (mid-p), 2 / 2⁶ (McNemar); 8 and 2, 67 / 2¹⁰,
2 · 56 / 2¹⁰."""


def run_of(model, release, votes, tests, suite):
    variant = {"release": release, "variant_key": model.name}
    run = make_run(*tests, model=model, suite=suite, jury=shared_jury(), **variant)
    answer(run)
    judge(run, [[vote] for vote in votes])
    finish(run)
    return Run.objects.get(pk=run.pk)


def vote_again(run, votes):
    """Let the judge give each result another verdict, as where failed judgments are retried."""
    for result, vote in zip(run.results.order_by("pk"), votes, strict=True):
        Judgment.objects.filter(result=result).update(value=vote)
    score_result_scores(ResultScore.objects.filter(judge_run__run=run))


def override(run, votes):
    """Give each result the verdict that it has not."""
    by = make_user("annotator")
    for result, vote in zip(run.results.order_by("pk"), votes, strict=True):
        if result.passed != bool(vote):
            evaluate(result, HumanVerdict(str(vote), "Seen by a person."), by=by)


def test_swapped_verdicts_have_another_p_on_every_page(client, subtests):
    issue = make_issue()
    tests, suite = [make_test(issue=issue) for _ in OLD], Suite.objects.create(name="s")
    alpha, beta = make_model(name="Alpha"), make_model(name="Beta")
    old = run_of(alpha, "1.0", OLD, tests, suite)
    run_of(beta, "1.0", OLD, tests, suite)
    new = run_of(alpha, "1.1", NEW, tests, suite)
    client.force_login(make_user("maintainer"))
    pages = {
        "api-report-releases": {},
        "api-report-trend": {},
        "api-report-leaderboard": {"least": 1},
        "api-report-compare": {"runs": [old.pk, new.pk]},
        "admin:index": {COMPUTE: 1},
    }

    def shown():
        return {
            page: client.get(reverse(page), query).content.decode() for page, query in pages.items()
        }

    count_due()
    found = {"before": shown()}
    vote_again(new, SWAPPED)
    found["swapped"] = shown()
    count_due()
    found["counted"] = shown()
    for page in pages:
        for state, texts in found.items():
            is_swapped = state != "before"
            with subtests.test(page=page, state=state):
                assert [any(p in texts[page] for p in some) for some in P] == [
                    not is_swapped,
                    is_swapped,
                ]


def test_swapped_verdicts_of_unequal_weight_change_a_capability(client):
    Capability.objects.all().delete()
    capability = Capability.objects.create(name="Skill")
    CapabilityWeight.objects.create(capability=capability, kind="suite", name="s", weight=1)
    model, others = make_model(name="Alpha"), [make_suite(make_test()) for _ in range(4)]
    for suite in [one for one in others for _ in range(2)]:
        scored_run(suite, model, 1.0, tests=suite.tests.all())
    tests, suite = [make_test(weight=weight) for weight in (2, 1, 1, 1)], make_suite(name="s")
    for votes in ([1, 0, 0, 1], [1, 0, 0, 1]):
        run = run_of(model, "1.0", votes, tests, suite)
    client.force_login(make_user("maintainer"))

    def score():
        document = client.get(reverse("api-report-capabilities")).json()
        (row,) = document["tables"]["ranking"]["rows"]
        return row["score"]["value"]

    count_due()
    before = score()
    vote_again(run, [0, 1, 1, 0])
    assert (before, score()) == (pytest.approx(3 / 5), pytest.approx(2 / 5))


def test_reviewing_one_side_changes_no_comparison(client):
    """Annotators pass all that judges failed in the newer run; nobody reviews the older one."""
    issue = make_issue()
    tests, suite = [make_test(issue=issue) for _ in OLD], Suite.objects.create(name="s")
    alpha = make_model(name="Alpha")
    old = run_of(alpha, "1.0", OLD, tests, suite)
    new = run_of(alpha, "1.1", NEW, tests, suite)
    client.force_login(make_user("maintainer"))

    def words():
        report = client.get(reverse("api-report-compare"), {"runs": [old.pk, new.pk]}).json()
        releases = client.get(reverse("api-report-releases")).json()
        facts = {name: report["facts"][name]["value"] for name in ("conclusion", "worse", "p")}
        return facts, releases["sentences"]

    before = words()
    override(new, [1] * 10)

    assert before[0]["conclusion"] == "judges rate it worse"
    assert words() == before
    assert new.results.filter(outcome="passed").count() == 10
