"""The rule of trust at its edges; `tests.bench.validity.judge_trust` has how often it errs."""

import pytest

from evalhub.statistics.judges.judge_accuracy import JudgeCounts
from reports.judge_reliability.trust_rule import Evidence, Proof, decide, more_needed
from tests.bench.validity.judge_trust import GOOD, trusted


def judged(issues, *, passes=(1, 1), fails=(1, 1)):
    """Evidence of equal issues; (right, n) of each issue's human passes and fails."""
    counts = JudgeCounts(passes[0], fails[1] - fails[0], fails[0], passes[1] - passes[0])
    return Evidence.of([counts] * issues)


def alone(evidence):
    return decide({"judge": evidence})["judge"]


def test_a_judge_that_is_right_on_enough_answers_is_trusted():
    found = alone(judged(60))

    assert found.proof is Proof.SHOWN
    assert found.needed == ""
    # All right: 60 / (60 + t²), t of 59 degrees of freedom 2.001.
    assert found.low == pytest.approx(60 / (60 + 2.001**2), abs=1e-4)


def test_a_judge_that_always_passes_is_not_trusted_however_accurate():
    # Right on 97 %: humans fail 3 of 100 answers of each of 20 issues.
    found = alone(judged(20, passes=(97, 97), fails=(0, 3)))

    assert found.proof is Proof.BELOW
    assert found.needed == "Its specificity is significantly below 80%."
    assert found.missing == (None, None)
    assert alone(judged(40, passes=(0, 1))).proof is Proof.BELOW  # nor one that always fails


SIX_FAILS = Evidence.of([JudgeCounts(2, 0, 1, 0)] * 6 + [JudgeCounts(2, 0, 0, 0)] * 10)


@pytest.mark.parametrize(
    ("evidence", "needed", "missing"),
    [
        (SIX_FAILS, "4 more human fails are needed.", (0, 4)),
        (judged(9, fails=(2, 2)), "1 more human pass is needed.", (1, 0)),
        (
            judged(0),
            "10 more human passes are needed. 10 more human fails are needed.",
            (10, 10),
        ),
    ],
)
def test_missing_human_verdicts_are_counted(evidence, needed, missing):
    found = alone(evidence)

    assert (found.proof, found.needed, found.missing) == (Proof.TOO_FEW, needed, missing)
    assert alone(judged(0)).low == 0


def test_forty_of_forty_in_one_issue_are_not_enough():
    found = alone(judged(1, passes=(40, 40), fails=(40, 40)))

    assert found.proof is Proof.TOO_FEW
    assert "Human fails from 4 more issues are needed: all 40 are from 1 issue." in found.needed


def test_enough_answers_that_show_too_little_say_about_how_many_more():
    evidence = judged(12)
    found = alone(evidence)
    more = more_needed(evidence.fails, found.level)

    assert found.proof is Proof.OPEN
    assert f"About {more} more human fails are needed at this specificity." in found.needed
    assert alone(judged(12 + more)).proof is Proof.SHOWN


def test_at_a_rate_below_80_percent_more_answers_do_not_help():
    found = alone(judged(12, fails=(3, 4)))

    assert found.proof is Proof.OPEN
    assert "At this specificity, more human fails will not show 80%." in found.needed
    assert found.missing[1] is None


def test_answers_to_one_issue_count_less_than_as_many_issues():
    assert alone(judged(40)).low > alone(judged(10, passes=(4, 4), fails=(4, 4))).low


def test_the_more_is_asked_together_the_more_must_be_shown():
    good, weak = judged(20), judged(20, passes=(4, 5), fails=(4, 5))
    asked: dict[str, Evidence] = {"good": good} | {str(n): weak for n in range(50)}

    assert alone(good).proof is Proof.SHOWN
    assert decide(asked)["good"].proof is Proof.OPEN
    assert decide(asked)["good"].level == 1 - 0.05 / 51


def test_what_cannot_be_decided_is_not_counted():
    asked = {"good": judged(20)} | {str(n): judged(2) for n in range(50)}
    found = decide(asked)["good"]

    assert (found.proof, found.asked, found.level) == (Proof.SHOWN, 1, 0.95)


def test_one_that_is_shown_makes_it_easier_for_the_next():
    # 20 of 20: the bound is 20 / (20 + t²): 0.82 at 95 %, 0.78 at 97.5 %.
    found = decide({"first": judged(200), "second": judged(20)})

    assert alone(judged(20)).proof is Proof.SHOWN
    assert (found["first"].level, found["second"].level) == (0.975, 0.95)
    assert found["second"].proof is Proof.SHOWN


def test_the_sentence_has_n_interval_and_method():
    assert alone(judged(60)).figures == (
        "Sensitivity 100% (60 of 60 human passes of 60 issues, 94–100%) and specificity 100% "
        "(60 of 60 human fails of 60 issues, 94–100%); 95% intervals: Wilson by issue, Holm over "
        "1 judges × groups."
    )


@pytest.mark.parametrize("site", GOOD[1:3], ids=lambda site: site.words)
def test_a_good_judge_is_trusted_on_300_answers(site):
    assert trusted(site, draws=2000) >= 0.8
