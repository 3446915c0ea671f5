"""Cost limits that several processes keep together."""

from decimal import Decimal
from random import Random

import pytest
from django.db.models import F, Sum

from evalhub.models import BatchState, Call, CostReservation, ItemState
from evalhub.work import leases
from evalhub.work.kinds import kinds
from evalhub.work.limits.budget import Budget
from evalhub.work.limits.cost_reservations import AHEAD, give_back, reserve
from runs.models import Run
from tests.evalhub.work.test_loop import slowly, some_tests
from tests.factories import make_run

pytestmark = pytest.mark.django_db(transaction=True)
ANSWERING, *_ = kinds()
HALF_A_DOLLAR_A_CALL = {"output_usd_per_mtok": 500_000, "input_usd_per_mtok": 0}


@pytest.fixture
def run():
    return make_run(*some_tests(3), cost_limit_usd=10)


def test_what_one_worker_reserved_no_other_gets(run):
    one, two = leases.register(), leases.register()
    assert reserve(ANSWERING, run, one, 0, 1).allowance_usd == AHEAD
    assert reserve(ANSWERING, run, two, 0, 1) == (10 - AHEAD, AHEAD)
    assert reserve(ANSWERING, run, two, 2, 1) == (2, AHEAD)  # only what it uses


@pytest.mark.parametrize("seed", range(5))
def test_calls_of_many_workers_never_exceed_a_limit(run, seed):
    """Workers start, finish and save calls in any order; each costs as much as was estimated."""
    random, estimate = Random(seed), 0.3
    budgets = {leases.register(): Budget(allowance_usd=0.0) for _ in range(4)}
    for _ in range(300):
        worker, budget = random.choice(list(budgets.items()))
        match random.choice(["start", "finish", "save"]):
            case "start":
                if not budget.affords(estimate):
                    granted = reserve(ANSWERING, run, worker, budget.used_usd, estimate)
                    budget.allowance_usd = granted.allowance_usd
                if budget.affords(estimate):
                    budget.reserved_usd += estimate
            case "finish" if budget.reserved_usd > 0.1:
                budget.reserved_usd -= estimate
                budget.add_unsaved(estimate)
            case "save" if budget.unsaved_usd > 0.1:
                spent = F("spent_usd") + Decimal("0.3")
                Run.objects.filter(pk=run.pk).update(spent_usd=spent)
                budget.mark_saved(estimate)
    run.refresh_from_db()
    used = sum(budget.used_usd for budget in budgets.values())
    assert 9 < float(run.spent_usd) + used <= 10 + 1e-6


def test_reservation_ends_with_its_worker(run):
    dead, ended, alive = leases.register(), leases.register(), leases.register()
    for worker in (dead, ended):
        reserve(ANSWERING, run, worker, 0, 0.5)
    leases.free([dead])
    leases.sign_off(ended, {})
    assert reserve(ANSWERING, run, alive, 0, 1) == (AHEAD, 0)
    give_back([run.work_key], alive)
    assert not CostReservation.objects.filter(worker=alive).exists()


def test_two_workers_together_keep_to_a_limit(provider, model_at, start):
    """Both have calls in flight as the limit is met."""
    provider.script = lambda request: "word"
    slowly(provider, 0.3)
    model = model_at(max_concurrency=8, params={"max_tokens": 1}, **HALF_A_DOLLAR_A_CALL)
    run = make_run(*some_tests(40), model=model, cost_limit_usd="6.5")
    one, two = start(), start()
    one.end()
    two.end()

    run.refresh_from_db()
    assert run.state == BatchState.PAUSED
    assert 6 <= Call.objects.aggregate(total=Sum("cost_usd"))["total"] <= 6.5
    assert run.results.filter(state=ItemState.DONE).count() == 2 * run.spent_usd
    assert not CostReservation.objects.exists()
