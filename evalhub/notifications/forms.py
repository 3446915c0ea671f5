from django import forms

from evalhub.notifications.models import NotificationKind, Webhook


class WebhookForm(forms.ModelForm):
    """Form of a webhook."""

    kinds = forms.MultipleChoiceField(
        label="Events",
        choices=NotificationKind.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=NotificationKind.values,
    )

    class Meta:
        model = Webhook
        fields = ("name", "url", "secret_env", "kinds", "is_active")
