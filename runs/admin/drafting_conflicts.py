"""Models that should not draft tests: judges of active juries, and relatives of candidates."""

from collections.abc import Iterator

from evalhub.display.formatting import few
from evalhub.models import LanguageModel
from issues.drafting.conflicts import contribute_conflicts, is_same_family, is_same_model
from issues.models import Issue
from runs.models import Jury, Result


def conflicts(generator: LanguageModel, issue: Issue | None) -> Iterator[str]:
    """Yield sentences: whose judge it is, and with which model under test it shares a family."""
    juries = Jury.objects.filter(is_active=True).prefetch_related("judges__language_model")
    judged_by = [
        jury.name
        for jury in juries
        if any(is_same_model(generator, judge.language_model) for judge in jury.judges.all())
    ]
    if judged_by:
        yield f"{generator} judges in {few(judged_by, most=3)}: it would judge what it wrote."
    if issue is not None:
        answered = Result.objects.filter(issue=issue).order_by().values("run__language_model")
        candidates = LanguageModel.objects.filter(pk__in=answered.distinct())
        alike = [str(model) for model in candidates if is_same_family(generator, model)]
        if alike:
            yield (
                f"{generator} is of the family of {few(alike, most=3)}, which this issue's tests "
                "measure: texts of one family favour it."
            )


contribute_conflicts(conflicts)
