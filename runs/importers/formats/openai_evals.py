"""OpenAI Evals: samples of a data set, in and out. Pure.

Format: JSON lines with `input` (messages or a text) and `ideal` (one answer or several).
"""

from collections.abc import Iterable

from runs.importers.formats.records import (
    Contents,
    Document,
    Json,
    PeerTest,
    key_of,
    messages_of,
    object_of,
    references_of,
    without_answer,
)

NAME = "openai_evals"
TITLE = "OpenAI Evals samples"


def matches(document: Document) -> bool:
    first = object_of(document.value)
    return document.kind == "lines" and "input" in first and "ideal" in first


def read(document: Document) -> Contents:
    contents = Contents(title=document.stem)
    seen: set[str] = set()
    for number, line in enumerate(document.values, 1):
        fields = object_of(line)
        if not fields.get("input"):
            contents.problems.append(f"Sample {number} has no input.")
            continue
        messages = without_answer(messages_of(fields["input"]))
        key = key_of(messages)
        if key in seen:
            contents.notes["Samples with the same input: the first one is taken."] += 1
            continue
        seen.add(key)
        if not fields.get("ideal"):
            contents.notes["Samples have no ideal answer."] += 1
        contents.tests.append(
            PeerTest(
                key=key,
                messages=messages,
                reference=references_of(fields.get("ideal")),
                extras={NAME: {**fields, "of": key}},
            )
        )
    return contents


def write_tests(tests: Iterable[PeerTest]) -> list[Json]:
    """Return tests as samples, each as it came if nothing in it has changed."""
    samples = []
    for test in tests:
        kept = dict(object_of(test.extras.get(NAME)))
        if kept.pop("of", "") != key_of(test.messages):
            kept = {}
        ideal = kept.get("ideal")
        if ideal is None or references_of(ideal) != test.reference:
            ideal = test.reference
        samples.append({"input": test.messages, **kept, "ideal": ideal})
    return samples
