import pytest

from issues.checks import CHECKS
from tests.issues.checks.outcomes import error_of, problem

FOREIGN = {
    "js": "r.length / 10",
    "call": {"url": "https://x.test", "params": {"text": "{response}"}},
    "factcheck": "Is it so?",
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("negate", [False, True])
def test_foreign_checks_are_kept_but_never_run(name, negate):
    assert not CHECKS[name].can_run
    assert problem(name, source=FOREIGN[name]) == ""
    assert "cannot run here" in error_of(name, "test", source=FOREIGN[name], negate=negate)


def test_all_others_can_run():
    assert {name for name, check in CHECKS.items() if not check.can_run} == set(FOREIGN)
