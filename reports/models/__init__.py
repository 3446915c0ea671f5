from reports.models.summary import Exchange, ExecutiveSummary, Grade

__all__ = ["Exchange", "ExecutiveSummary", "Grade"]
