"""Which model each language model counts as."""

from evalhub.llm.identity import Identity, identity_of
from evalhub.models import LanguageModel


def identities() -> dict[int, Identity]:
    """The identity of every language model, by its id; one query."""
    rows = LanguageModel.objects.order_by("pk").only(
        "name", "litellm_model", "api_base", "identity", "developer", "family"
    )
    return {model.pk: identity_of(model) for model in rows}
