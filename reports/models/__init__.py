from reports.models.recurring import Edition, RecurringReport
from reports.models.summary import Exchange, ExecutiveSummary, Grade

__all__ = ["Edition", "Exchange", "ExecutiveSummary", "Grade", "RecurringReport"]
