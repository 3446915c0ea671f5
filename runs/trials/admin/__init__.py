from runs.trials.admin.trial import TrialAdmin

__all__ = ["TrialAdmin"]
