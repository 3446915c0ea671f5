"""The link from a test to the corrections of its answers."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.contributions import Contribution, PanelPart, contribute
from issues.models import Test
from runs.review.models import Correction


def panel_of_test(request: HttpRequest, test: Any) -> PanelPart:
    n = Correction.objects.filter(result__test=test, undone_at=None).count()
    url = f"{reverse('admin:review_correction_changelist')}?test={test.pk}"
    link = Button(f"Corrections ({n:,})", url, is_link=True)
    return PanelPart([link] if n else [])


contribute(Contribution(permission="review.view_correction", panel=panel_of_test), Test)
