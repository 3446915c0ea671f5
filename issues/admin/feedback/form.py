"""Form of feedback; a duplicate takes the issue of its original."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from issues.feedback_content import FIELDS, says_nothing
from issues.models import Feedback, FeedbackState


class FeedbackForm(forms.ModelForm):
    class Meta:
        model = Feedback
        fields = [field.name for field in FIELDS if field.place or field.is_triage]
        help_texts = {
            "issue": "The issue this feedback is evidence of, if it exists already.",
            "duplicate_of": "The original, if this is a duplicate. It then follows the original.",
        }

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if self.instance.pk is None and not self.errors and says_nothing(data):
            raise ValidationError("Enter a prompt, answer, comment or rating.")
        original = data.get("duplicate_of")
        if original is not None:
            self._follow(data, original.duplicate_of or original)
        elif data.get("state") == FeedbackState.DUPLICATE:
            self.add_error("duplicate_of", "Choose the original of this duplicate.")
        return data

    def _follow(self, data: dict[str, Any], original: Feedback) -> None:
        if original == self.instance:
            raise ValidationError(
                {"duplicate_of": "Feedback cannot be a duplicate of itself. Choose another item."}
            )
        if data.get("state", FeedbackState.DUPLICATE) != FeedbackState.DUPLICATE:
            if "duplicate_of" not in self.changed_data:
                data["duplicate_of"] = None
                return
            data["state"] = FeedbackState.DUPLICATE
        self.instance.state = FeedbackState.DUPLICATE
        data |= {"duplicate_of": original, "issue": original.issue}
