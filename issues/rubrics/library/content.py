"""Content of a library criterion as JSON, and what is wrong with it. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from issues.checks import problems_of as check_problems_of
from issues.rubrics import scales

ROLES = ("passing", "failing", "borderline")
"""Examples of a criterion. The passing answer passes on its scale, the failing one fails."""

WINNERS = ("first", "second", "tie")
"""Options of a pairwise criterion."""

EXAMPLE_FIELDS = ("input", "context", "reference", "answer", "other", "option", "why")
"""Texts of an example. `other` is the second answer of a pair; missing texts are empty."""

MAX_TAGS, MAX_TAG = 12, 40
MAX_EXAMPLE = 20_000
"""Characters of an example."""

Problems = dict[str, list[str]]


def problems_of(content: Mapping[str, Any]) -> Problems:
    """Return the problems of a criterion by field; empty if it is valid.

    Args:
        content: The fields of `issues.rubrics.library.entries.content_of`.
    """
    found: Problems = {}
    for field, problem in _problems(content):
        found.setdefault(field, []).append(problem)
    return found


def _problems(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    is_pairwise = content["kind"] == "pairwise"
    if is_pairwise and content["scale"] is not None:
        yield "scale", "A pairwise criterion has no options: a judge names the better answer."
    if is_pairwise and (content["check"] or content["judged_text"] != "answer"):
        yield "kind", "A pairwise criterion compares answers, and is not checked."
    if not is_pairwise:
        for problem in scales.problems_of(content["scale"]):
            yield "scale", problem
    if content["check"]:
        for problem in check_problems_of(content["check"], content["arguments"]):
            yield "arguments", problem
    elif content["arguments"]:
        yield "arguments", "Only a check takes arguments."
    for problem in _tag_problems(content["tags"]):
        yield "tags", problem
    for problem in _example_problems(content):
        yield "examples", problem


def _tag_problems(tags: object) -> Iterator[str]:
    if not isinstance(tags, list) or not all(isinstance(tag, str) and tag.strip() for tag in tags):
        yield f"Tags are a list of texts, not {str(tags)[:60]!r}."
    elif len(tags) > MAX_TAGS:
        yield f"There are {len(tags)} tags; the maximum is {MAX_TAGS}."
    elif too_long := [tag for tag in tags if len(tag) > MAX_TAG]:
        yield f"The tag {too_long[0]!r} is longer than {MAX_TAG} characters."


def _example_problems(content: Mapping[str, Any]) -> Iterator[str]:
    examples = content["examples"]
    if not isinstance(examples, Mapping):
        yield f"Examples are an object with {', '.join(ROLES)}, not {str(examples)[:60]!r}."
        return
    for unknown in sorted(set(examples) - set(ROLES)):
        yield f"There is no example {unknown!r}: use {', '.join(ROLES)}."
    for role in ROLES:
        if role in examples:
            for problem in _problems_of_example(role, examples[role], content):
                yield f"Example {role}: {problem}"


def _problems_of_example(role: str, example: object, content: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(example, Mapping) or not all(isinstance(v, str) for v in example.values()):
        yield f"it is an object of texts, not {str(example)[:60]!r}."
        return
    for unknown in sorted(set(example) - set(EXAMPLE_FIELDS)):
        yield f"it has no {unknown!r}: use {', '.join(EXAMPLE_FIELDS)}."
    if (size := sum(map(len, example.values()))) > MAX_EXAMPLE:
        yield f"it has {size:,} characters; the maximum is {MAX_EXAMPLE:,}."
    needed = ("answer", "other") if content["kind"] == "pairwise" else (content["judged_text"],)
    for name in needed:
        if not example.get(name, "").strip():
            yield f"{name} is empty."
    yield from _option_problems(role, example.get("option", ""), content)


def _option_problems(role: str, option: str, content: Mapping[str, Any]) -> Iterator[str]:
    """Check that the option exists, and that it is on the side that the role names."""
    if content["kind"] == "pairwise":
        if option not in WINNERS:
            yield f"the option {option!r} is not one of {', '.join(WINNERS)}."
        return
    try:
        scale = scales.from_json(content["scale"])
    except scales.ScaleError:
        return  # the scale itself says what is wrong
    found = next((each for each in scale.options if each.label == option), None)
    if found is None:
        labels = ", ".join(each.label for each in scale.options)
        yield f"the option {option!r} is not one of {labels}."
    elif role != "borderline" and scale.passes(found.value) != (role == "passing"):
        side = "pass" if role == "passing" else "fail"
        yield f"the option {option!r} does not {side} on this scale. Check the options' values."
