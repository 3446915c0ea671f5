"""Identities of language models: the model that each counts as."""

from evalhub.llm.identity import Identity, identity_of
from evalhub.models import LanguageModel


def identities() -> dict[int, Identity]:
    """Return the identity of every language model by id; one query."""
    rows = LanguageModel.objects.order_by("pk").only(
        "name", "litellm_model", "api_base", "identity", "developer", "family"
    )
    return {model.pk: identity_of(model) for model in rows}
