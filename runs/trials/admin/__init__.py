from runs.trials.admin.benchmark import BenchmarkAdmin
from runs.trials.admin.texts import ArtifactAdmin, IdeaAdmin
from runs.trials.admin.trial import TrialAdmin

__all__ = ["ArtifactAdmin", "BenchmarkAdmin", "IdeaAdmin", "TrialAdmin"]
