from runs.laboratory.trials.models.benchmark import (
    Artifact,
    Benchmark,
    BenchmarkState,
    GenerationPath,
    Idea,
    IdeaState,
    Review,
    Source,
    Topic,
    TopicKind,
    Validity,
)
from runs.laboratory.trials.models.generation import GenerationRun, GenerationStep, Stage
from runs.laboratory.trials.models.label import ClaimLabel
from runs.laboratory.trials.models.trial import (
    Claim,
    ClaimJudgment,
    ClaimKind,
    Hardness,
    Task,
    Trial,
    Validation,
)

__all__ = [
    "Artifact",
    "Benchmark",
    "BenchmarkState",
    "Claim",
    "ClaimJudgment",
    "ClaimKind",
    "ClaimLabel",
    "GenerationPath",
    "GenerationRun",
    "GenerationStep",
    "Hardness",
    "Idea",
    "IdeaState",
    "Review",
    "Source",
    "Stage",
    "Task",
    "Topic",
    "TopicKind",
    "Trial",
    "Validation",
    "Validity",
]
