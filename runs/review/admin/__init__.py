from runs.review.admin.corrections import CorrectionAdmin
from runs.review.admin.disputes import DisputeAdmin
from runs.review.admin.queue import QueueAdmin
from runs.review.admin.result import ReviewedResultAdmin

__all__ = [
    "CorrectionAdmin",
    "DisputeAdmin",
    "QueueAdmin",
    "ReviewedResultAdmin",
]
