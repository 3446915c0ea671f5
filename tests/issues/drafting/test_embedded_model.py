"""The demo's batch of drafts, by its own model."""

from types import SimpleNamespace

import pytest

from evalhub.llm import local_model
from issues.drafting.demo import draft_once
from issues.drafting.figures import figures_of
from issues.models import Generation
from tests.evalhub.llm.test_local_model import port
from tests.factories import make_issue, make_model, make_user

__all__ = ["port"]


@pytest.mark.kill  # it takes a processor for half a minute
@pytest.mark.both_engines
@pytest.mark.django_db(transaction=True)
def test_the_embedded_model_drafts_three_of_five_in_form(port, settings, work):
    settings.EVALHUB_ALLOWED_ADDRESSES = [f"127.0.0.1:{port}"]
    model = make_model(
        api_base=local_model.base_url(port), litellm_model=local_model.LITELLM_MODEL, timeout_s=600
    )
    make_issue()

    draft_once([SimpleNamespace(language_model=model)], make_user("maintainer"))
    while Generation.objects.filter(state="live").exists():
        work()

    (figures,) = figures_of(Generation.objects.get().drafts.select_related("generation__generator"))
    assert figures.ended == 5
    assert figures.in_form >= 3
