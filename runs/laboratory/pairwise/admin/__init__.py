from runs.laboratory.pairwise.admin.judge_run import PairwiseJudgeRunAdmin

__all__ = ["PairwiseJudgeRunAdmin"]
