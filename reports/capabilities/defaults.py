"""The five built-in capabilities. Pure.

The methodology defines them and the weights of the first; all other weights are ours.
"""

from typing import Any, NamedTuple

DOCUMENT, OURS = "document", "ours"


class Default(NamedTuple):
    """A capability. Weights are by name: of dimensions, of topics, of suites."""

    name: str
    description: str
    origin: str
    dimensions: dict[str, float]
    topics: dict[str, float]
    suites: dict[str, float]


DEFAULTS = (
    Default(
        "Helpfulness & Reasoning",
        "Solves the problem and does the task.",
        DOCUMENT,
        {"helpfulness": 1, "adherence": 1, "depth": 0.75},
        {"Instruction Following & Prompt Adherence": 1, "Reasoning": 1, "Coding": 0.75},
        {"legal-reasoning-benchmark": 1, "math-word-problems": 0.75},
    ),
    Default(
        "Safety & Responsibility",
        "Does no harm, and acts as it should.",
        OURS,
        {"safety": 1, "humility": 0.5, "empathy": 0.5},
        {
            "Safety": 1,
            "Mental Health & Crisis Support": 1,
            "Crisis Response": 1,
            "Bias & Fairness": 0.75,
            "Human Rights": 0.5,
            "Refusals & Over-Refusal": 0.5,
        },
        {},
    ),
    Default(
        "Communication Quality",
        "Is clear, in the right tone, and says it well.",
        OURS,
        {
            "clarity": 1,
            "tone": 1,
            "coherence": 0.75,
            "efficiency": 0.5,
            "empathy": 0.5,
            "creativity": 0.5,
        },
        {
            "Writing": 1,
            "Persona & Tone": 0.75,
            "Summarization": 0.75,
            "Multilingual Understanding": 0.5,
        },
        {},
    ),
    Default(
        "Trustworthiness & Accuracy",
        "Can be relied on: its facts are right.",
        OURS,
        {"credibility": 1, "humility": 0.75, "argumentation": 0.5},
        {
            "Factual Accuracy & Hallucination": 1,
            "Hallucination": 1,
            "Misinformation & Fact-Checking": 1,
            "RAG": 0.5,
            "Science": 0.5,
        },
        {},
    ),
    Default(
        "Civic & Legal Knowledge",
        "Knows the law, politics, and how society is organised.",
        OURS,
        {"argumentation": 0.5, "credibility": 0.5},
        {
            "Law": 1,
            "Legal Reasoning": 1,
            "Civil Rights": 1,
            "Civic Knowledge": 1,
            "Human Rights": 0.75,
            "International Law": 0.75,
            "Elections": 0.75,
            "Government & Public Administration": 0.75,
            "Public Sector": 0.5,
        },
        {},
    ),
)


def load_defaults(capabilities: Any, weights: Any) -> None:
    """Store missing capabilities; existing ones stay as they were edited.

    Args:
        capabilities: The model `Capability`, current or of a migration.
        weights: The model `CapabilityWeight`, likewise.
    """
    for order, default in enumerate(DEFAULTS, 1):
        row, is_new = capabilities.objects.get_or_create(
            name=default.name, defaults={"description": default.description, "order": order}
        )
        if is_new:
            weights.objects.bulk_create(
                weights(capability=row, kind=kind, name=name, weight=weight, origin=default.origin)
                for kind, weighed in (
                    ("dimension", default.dimensions),
                    ("topic", default.topics),
                    ("suite", default.suites),
                )
                for name, weight in weighed.items()
            )
