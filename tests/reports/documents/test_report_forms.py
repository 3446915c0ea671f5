import pytest
from django import forms
from django.http import QueryDict

from reports.documents.reading import ReportForm
from runs.models import Suite
from tests.reports.scored_runs import make_suite


def test_choices_are_asked_for_once():
    asked = []

    def choices():
        asked.append("choices")
        return [("", "All"), ("kelp", "Kelp")]

    class ModelForm(ReportForm):
        model = forms.ChoiceField(choices=choices)

    (chip,) = ModelForm(QueryDict()).chips

    assert '<option value="kelp">Kelp</option>' in str(chip.field)
    assert asked == ["choices"]


@pytest.mark.django_db
def test_choices_of_rows_are_one_query(django_assert_num_queries):
    suite = make_suite(name="Nightly")

    class SuiteForm(ReportForm):
        suite = forms.ModelChoiceField(Suite.objects.all())

    with django_assert_num_queries(1):
        (chip,) = SuiteForm(QueryDict()).chips
        shown = str(chip.field)

    assert f'<option value="{suite.pk}">Nightly</option>' in shown


@pytest.mark.django_db
def test_chosen_rows_are_read_once(django_assert_num_queries):
    suite = make_suite(name="Nightly")

    class SuiteForm(ReportForm):
        suite = forms.ModelChoiceField(Suite.objects.all())

    form = SuiteForm(QueryDict(f"suite={suite.pk}"))

    with django_assert_num_queries(1):
        assert (form.filters["suite"], form.filters["suite"]) == (suite, suite)
