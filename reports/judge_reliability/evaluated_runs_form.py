"""Form fields that reports on human evaluations share."""

from django import forms

from reports.documents.reading import ReportForm
from runs.models import Suite


class EvaluatedRunsForm(ReportForm):
    """The suite and the newest runs to read."""

    suite = forms.ModelChoiceField(
        Suite.objects.only("name").order_by("name"), empty_label="All suites"
    )
    last = forms.TypedChoiceField(
        label="Runs",
        choices=[(n, f"last {n}") for n in (10, 30, 50, 100, 200)],
        coerce=int,
        initial=50,
        help_text="With human evaluations",
    )
