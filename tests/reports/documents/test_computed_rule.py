"""What is cached is cached under versions of results, or under all that it is computed from."""

import ast

from tests.layers import sources

WITHOUT_VERSIONS = {
    "annotators": "human evaluations are only added",
    "calibration": "human evaluations are only added, and judge runs have ended",
    "changes": "fingerprints of tests and juries",
    "compare": "the compared tests themselves",
    "corrected": "human evaluations are only added, and judge runs have ended",
    "evaluated-runs": "human evaluations are only added",
    "judgments": "judge runs have ended",
    "pairwise": "the games themselves",
    "trust": "human evaluations are only added, and judge runs have ended",
    "PROPOSALS": "the state of the workspace, with versions of all results",
}


def test_only_known_figures_are_cached_without_versions():
    calls = {
        ast.unparse(call.args[0]).strip("'-0123456789"): {word.arg for word in call.keywords}
        for path in sources("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("reading.computed")
    }
    assert {name for name, words in calls.items() if "of" not in words} == WITHOUT_VERSIONS.keys()
