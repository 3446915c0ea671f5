from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from evalhub.llm.address_policy import ForbiddenAddress, check_base_url
from evalhub.notifications.models import NotificationKind, Webhook


class WebhookForm(forms.ModelForm):
    """Form of a webhook; its address must satisfy the policy for models' addresses."""

    kinds = forms.MultipleChoiceField(
        label="Events",
        choices=NotificationKind.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=NotificationKind.values,
    )

    class Meta:
        model = Webhook
        fields = ("name", "url", "secret_env", "kinds", "is_active")

    def clean_url(self) -> str:
        url: Any = self.cleaned_data["url"]
        try:
            check_base_url(url)
        except ForbiddenAddress as error:
            raise ValidationError(str(error)) from error
        return str(url)
