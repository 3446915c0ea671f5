"""What is complete is said once: by `Run.objects.complete()` and `states.state_of`.

So is what is conclusive, by `runs.comparison.completeness`; few modules may look at incomplete
runs at all.
"""

import ast
from pathlib import Path

import pytest

from tests.layers import ROOT, sources

RULE = {"runs/models/run_queries.py", "runs/figures/states.py"}
READS_STATE_OF = {
    "reports/compare/query.py",
    "runs/comparison/baselines.py",
    "runs/figures/run_figures.py",
    "runs/management/commands/evaluate.py",
}
"""Compare what `state_of` returned."""
JUDGE_RUNS_ALONE = {
    "reports/activity/query.py",
    "reports/judge_reliability/judges/totals_query.py",
    "reports/queries/human_agreement.py",
    "runs/admin/run/rejudge.py",
    "runs/lifecycle/control.py",
    "runs/laboratory/position_bias/measuring.py",
}
"""Ask whether judges are done, whatever becomes of the run."""
WRITES_THEM = {"runs/launching/imported_answers.py", "runs/demo/writer.py"}
COUNTS_ANSWERED = {"runs/figures/run_tallies.py"}
"""Counts results once answers are done; judges that go on have them counted again."""
REMOVES_TEXTS = {"runs/lifecycle/retention.py"}
"""Texts of runs on which nobody works any more, complete or not."""
OTHER_BATCHES = (
    "runs/laboratory/trials/",
    "runs/laboratory/tuning/",
    "reports/judge_reliability/trials/",
    "reports/summaries/",
    "reports/capabilities/",
    "reports/queries/topics.py",
)
"""Attempts, trials, benchmarks and executive summaries."""


MAY_BE_INCOMPLETE = {
    "runs/models/run_queries.py": "the rule itself",
    "runs/management/commands/demo.py": "waits for the end",
    "runs/review/queue_items.py": "annotators score what is missing",
    "reports/judge_reliability/humans/corrections_query.py": "compares judgments, not runs",
    "reports/leaderboard/query.py": "tells conclusive runs from incomplete ones, which it lists",
    "reports/summaries/requests.py": "waits for the end",
    "reports/activity/query.py": "says that a run ended",
    "reports/notifications.py": "says that a run ended, and that it is incomplete",
    "reports/queries/scope.py": "chooses a suite",
    "runs/figures/run_tallies.py": "counts results, and what lacks a score as well",
}
"""Modules that ask for complete runs, whether enough of them is scored or not, and why."""


def names_done(source: str) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == "DONE"
        and ast.unparse(node.value) == "BatchState"
        for node in ast.walk(ast.parse(source))
    )


def second_rules(source: str) -> list[str]:
    """Return the conditions that demand of runs, or of their judge runs, to be done."""
    return [
        ast.unparse(word)
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call)
        for word in call.keywords
        if word.arg
        and (word.arg.endswith("run__state") or (word.arg == "state" and selects_runs(call)))
        and ast.unparse(word.value) in ("BatchState.DONE", "'done'")
    ]


def selects_runs(call: ast.Call) -> bool:
    return ast.unparse(call.func).startswith("Run.objects") or ".runs." in ast.unparse(call.func)


def modules() -> list[Path]:
    return [path for path in sources("*.py") if path.relative_to(ROOT).parts[0] != "evalhub"]


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {str(path.relative_to(ROOT)): path.read_text() for path in modules()}


def test_no_query_says_again_which_runs_are_complete(texts):
    rules = {
        name: second_rules(text)
        for name, text in texts.items()
        if "state" in text and "done" in text.lower()
    }
    assert {name: found for name, found in rules.items() if found} == {}


def test_only_known_modules_ask_whether_a_batch_is_done(texts):
    names = {name for name, text in texts.items() if "BatchState.DONE" in text and names_done(text)}
    others = {name for name in names if not name.startswith(OTHER_BATCHES)}

    assert (
        others
        == RULE | READS_STATE_OF | JUDGE_RUNS_ALONE | WRITES_THEM | COUNTS_ANSWERED | REMOVES_TEXTS
    )


def test_only_known_modules_look_at_incomplete_runs(texts):
    """Whatever concludes something from runs asks for `conclusive` ones."""
    asks = {name for name, text in texts.items() if ".complete()" in text}
    assert asks == MAY_BE_INCOMPLETE.keys()
    assert {name for name, text in texts.items() if "MIN_SCORED" in text} == {
        "runs/comparison/completeness.py",
        "runs/models/run_queries.py",
        "reports/gate/precondition_rules.py",
    }


def test_a_second_rule_is_found_and_no_other_condition(subtests):
    rules = (
        "Run.objects.filter(state=BatchState.DONE)",
        "Run.objects.order_by('pk').filter(suite=suite, state='done')",
        "suite.runs.filter(state=BatchState.DONE)",
        "JudgeRun.objects.filter(is_active=True, run__state=BatchState.DONE)",
        "Result.objects.filter(judge_run__state=BatchState.DONE)",
    )
    others = (
        "JudgeRun.objects.filter(state=BatchState.DONE)",
        "tuning.attempts.filter(state=BatchState.DONE)",
        "Run.objects.filter(state=BatchState.LIVE)",
        "Run.objects.complete()",
    )
    for line in rules + others:
        with subtests.test(line):
            assert len(second_rules(line)) == (line in rules)
