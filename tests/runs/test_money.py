"""What a run cost at a real HTTP provider: one sum everywhere, and that of the bill."""

import json
from decimal import Decimal

import pytest

from reports.run.query import run_report
from reports.run.usage_tables import usage as usage_table
from runs.figures.run_figures import figures_of
from runs.models import Run
from runs.result_list.filters import Filters
from tests.api import client_of
from tests.factories import make_jury, make_run, make_test, make_user
from tests.provider import Reply, digest, is_judge, verdict

pytestmark = pytest.mark.django_db(transaction=True)

PRICES = {"input_usd_per_mtok": Decimal("1.25"), "output_usd_per_mtok": Decimal("2.5")}
BODIES = {
    "reasoning beside the output": (
        {
            **{"prompt_tokens": 10120, "completion_tokens": 1499, "total_tokens": 14428},
            "completion_tokens_details": {"reasoning_tokens": 2809},
        },
        "0.02342",  # (10120 · 1.25 + 4308 · 2.5) / 10⁶
    ),
    "cached": (
        {
            **{"prompt_tokens": 62394, "completion_tokens": 214},
            "prompt_tokens_details": {"cached_tokens": 60024},
        },
        "0.0110005",  # (2370 · 1.25 + 60024 · 0.125 + 214 · 2.5) / 10⁶
    ),
    "charged": ({"prompt_tokens": 194, "completion_tokens": 2, "cost": 0.95}, "0.95"),
    "two empty tries": ({"prompt_tokens": 100_000, "completion_tokens": 100_000}, "1.125"),
    "no counts": (None, None),
}


def answer(text, usage):
    message = {"role": "assistant", "content": text}
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    return Reply(body=json.dumps(body | ({"usage": usage} if usage else {})))


def test_result_page_list_and_api_say_what_is_billed(provider, model_at, work, subtests):
    def script(request):
        if is_judge(request):
            return answer(verdict(1), {"prompt_tokens": 400, "completion_tokens": 100})
        name, tries = request["model"], provider.counts[digest(request)]
        return answer("" if name == "two empty tries" and tries < 3 else "12", BODIES[name][0])

    provider.script = script
    test, judge = make_test(), model_at(name="judge", **PRICES)
    runs = {}
    for name in BODIES:
        asked = {"litellm_model": f"openai/{name}", "cached_usd_per_mtok": Decimal("0.125")}
        model = model_at(name=name, **asked, **PRICES)
        runs[name] = make_run(test, model=model, jury=make_jury(judge))
    work()

    runs = {name: Run.objects.get(pk=run.pk) for name, run in runs.items()}
    figures, client = figures_of(list(runs.values())), client_of("viewer")
    judged = Decimal("0.00075")  # (400 · 1.25 + 100 · 2.5) / 10⁶
    for name, run in runs.items():
        with subtests.test(name):
            right = None if BODIES[name][1] is None else Decimal(BODIES[name][1])
            unpriced = int(right is None)
            assert run.results.get().cost_usd == right
            whole = (judged + (right or 0), unpriced)
            assert figures[run.pk].spent == whole
            shown = client.get(f"/api/v1/runs/{run.pk}/").json()
            assert shown["spent_usd"] == (None if right is None else f"{right:.8f}")
            assert shown["unpriced_calls"] == unpriced
            report = run_report(run, Filters(), reader=make_user("superuser"))
            rows = {row["role"]: row for row in usage_table(report).as_rows()}
            assert rows["Model under test"]["cost_usd"] == right
            assert rows["Judges"]["cost_usd"] == judged
            counted = rows["Spent"]["unpriced"]
            assert rows["Spent"]["cost_usd"] == whole[0]
            assert getattr(counted, "value", counted) == whole[1]
