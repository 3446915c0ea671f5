from runs.models.human_evaluation import (
    ChosenBy,
    EvaluationKind,
    Example,
    HumanEvaluation,
    VerdictDraft,
)
from runs.models.judge_run import (
    DOUBTFUL,
    NO_ANSWER,
    PARTLY_JUDGED,
    RETRYABLE,
    JudgeRun,
    Judgment,
    JudgmentState,
    ResultScore,
)
from runs.models.jury import DEFAULT_APPROACHES, Approach, Judge, Jury, Method
from runs.models.launch import Launch
from runs.models.provenance import Provenance
from runs.models.release import Release
from runs.models.run import HAS_ANSWER, Answer, Outcome, Result, Run, TagSet
from runs.models.shown_verdicts import Sight
from runs.models.suite import Suite, SuiteVersion
from runs.models.tally import RunTally, TallyRow

__all__ = [
    "DEFAULT_APPROACHES",
    "DOUBTFUL",
    "HAS_ANSWER",
    "NO_ANSWER",
    "PARTLY_JUDGED",
    "RETRYABLE",
    "Answer",
    "Approach",
    "ChosenBy",
    "EvaluationKind",
    "Example",
    "HumanEvaluation",
    "Judge",
    "JudgeRun",
    "Judgment",
    "JudgmentState",
    "Jury",
    "Launch",
    "Method",
    "Outcome",
    "Provenance",
    "Release",
    "Result",
    "ResultScore",
    "Run",
    "RunTally",
    "Sight",
    "Suite",
    "SuiteVersion",
    "TagSet",
    "TallyRow",
    "VerdictDraft",
]
