from runs.laboratory.trials.admin.benchmark import BenchmarkAdmin
from runs.laboratory.trials.admin.texts import ArtifactAdmin, IdeaAdmin
from runs.laboratory.trials.admin.trial import TrialAdmin

__all__ = ["ArtifactAdmin", "BenchmarkAdmin", "IdeaAdmin", "TrialAdmin"]
