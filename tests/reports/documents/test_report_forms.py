from django import forms
from django.http import QueryDict

from reports.documents.reading import ReportForm


def test_choices_are_asked_for_once():
    asked = []

    def choices():
        asked.append("choices")
        return [("", "All"), ("kelp", "Kelp")]

    class ModelForm(ReportForm):
        model = forms.ChoiceField(choices=choices)

    (chip,) = ModelForm(QueryDict()).chips

    assert '<option value="kelp">Kelp</option>' in chip.control
    assert asked == ["choices"]
