"""Editor of a test's rubric on the test's page."""

from dataclasses import asdict
from functools import cache

from django.utils.html import json_script
from django.utils.safestring import SafeString

from issues.admin.inlines import PartInline
from issues.admin.rubric.criterion_form import CriterionForm, RubricFormSet
from issues.checks import CHECKS
from issues.limits import MAX_CRITERIA
from issues.models import Criterion
from issues.rubrics.argument_fields import arguments_of


@cache
def _checks() -> SafeString:
    checks = {
        check.name: {
            "description": check.description,
            "reason": check.reason,
            "arguments": [asdict(argument) for argument in arguments_of(check.name)],
        }
        for check in CHECKS.values()
    }
    return json_script(checks, "eh-checks")


class RubricInline(PartInline):
    """A form per criterion. Without a script they are a plain list, and pasted lines add more."""

    model = Criterion
    form = CriterionForm
    formset = RubricFormSet
    template = "issues/rubric.html"
    extra = 0
    max_num = MAX_CRITERIA
    verbose_name_plural = "rubric"

    class Media:
        js = ("evalhub/rubric.js",)
        css = {"all": ("evalhub/rubric.css",)}

    def checks(self) -> SafeString:
        """Return the checks as the script needs them to build fields."""
        return _checks()
