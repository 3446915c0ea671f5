from runs.laboratory.position_bias.admin.judge_run import ReversedJudgeRunAdmin

__all__ = ["ReversedJudgeRunAdmin"]
