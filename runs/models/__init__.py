from runs.models.evaluation import ChosenBy, EvaluationKind, Example, HumanEvaluation
from runs.models.judging import DOUBTFUL, NO_ANSWER, Assessment, Judging, Judgment, JudgmentState
from runs.models.jury import DEFAULT_APPROACHES, Approach, Judge, Jury
from runs.models.launch import Launch
from runs.models.run import Answer, Outcome, Result, Run, TagSet
from runs.models.suite import Suite

__all__ = [
    "DEFAULT_APPROACHES",
    "DOUBTFUL",
    "NO_ANSWER",
    "Answer",
    "Approach",
    "Assessment",
    "ChosenBy",
    "EvaluationKind",
    "Example",
    "HumanEvaluation",
    "Judge",
    "Judging",
    "Judgment",
    "JudgmentState",
    "Jury",
    "Launch",
    "Outcome",
    "Result",
    "Run",
    "Suite",
    "TagSet",
]
