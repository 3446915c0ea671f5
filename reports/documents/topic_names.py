"""Topics of suites in one spelling: a key to match and a title to show. Pure.

Tags that people gave and those that an analyst found are matched by key, so that "Mental Health",
"mental_health" and "mental-health" are one topic.
"""

import re
from functools import lru_cache

from runs.importers.weval.blueprint.prompts import normal_tag

CANONICAL = (
    "Adversarial Robustness",
    "AI Safety & Robustness",
    "Argumentation",
    "Bias & Fairness",
    "Civic Knowledge",
    "Civil Rights",
    "Coding",
    "Creativity",
    "Crisis Response",
    "Cultural Sensitivity",
    "Data Protection & GDPR",
    "Economics & Finance",
    "Education",
    "Elections",
    "Ethics & Morality",
    "Factual Accuracy & Hallucination",
    "Freedom of Information & RTI",
    "Government & Public Administration",
    "Hallucination",
    "Healthcare",
    "History",
    "Human Rights",
    "Instruction Following & Prompt Adherence",
    "International Law",
    "Know Your Rights",
    "Law",
    "Legal Reasoning",
    "LLM Evaluation",
    "Long-Context Understanding",
    "Math",
    "Mental Health",
    "Mental Health & Crisis Support",
    "Misinformation & Fact-Checking",
    "Multilingual Understanding",
    "Persona & Tone",
    "Politics",
    "Public Health",
    "Public Sector",
    "RAG",
    "Reasoning",
    "Refusals & Over-Refusal",
    "Safety",
    "Science",
    "Summarization",
    "SVG",
    "Tool Use",
    "UK Law",
    "US Law",
    "Writing",
)
"""Titles that the rule of `topic_title` would not give, or that buckets are made of."""


@lru_cache(maxsize=1000)
def topic_key(text: str) -> str:
    """Return the key of a tag or topic: "AI/ML & Data" is "aiml--data".

    What begins with "_" is for the house only and stays as it is.
    """
    key = normal_tag(text)
    return key if key.startswith("_") else key.strip("-")


_TITLES = {topic_key(title): title for title in CANONICAL}


def topic_title(key: str) -> str:
    """Return the title of a topic: the listed one, else each word capitalised."""
    known = _TITLES.get(topic_key(key))
    if known:
        return known
    parts = [re.split("-+", part) for part in topic_key(key).split("--")]
    return " & ".join(" ".join(word[:1].upper() + word[1:] for word in part) for part in parts)


def is_shown(key: str) -> bool:
    """Return False for internal tags: "test" and those that begin with "_"."""
    return bool(key) and not key.startswith("_") and key != TEST


TEST = "test"
"""Tag of experimental suites: they are excluded from leaderboards and drift."""
