"""Parts of the JSON schemas of analysts' replies. Pure."""

from collections.abc import Iterable
from typing import Any

from reports.summaries.dimensions import MAX_GRADE, MIN_GRADE, Dimension
from reports.summaries.key import Key

Form = dict[str, Any]


def object_of(**properties: Form) -> Form:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(items: Form, **limits: int) -> Form:
    return {"type": "array", "items": items, **limits}


def grades_form(key: Key, dimensions: Iterable[Dimension], **limits: int) -> Form:
    """Return the schema of a grade. `limits` are those of its reasoning."""
    return object_of(
        model={"type": "string", "enum": sorted(key.models)},
        dimension={"type": "string", "enum": [one.key for one in dimensions]},
        reasoning={"type": "string", **limits},
        score={"type": ["number", "null"], "minimum": MIN_GRADE, "maximum": MAX_GRADE},
    )


REPAIR = """\
{problem}
Write the whole reply again as one JSON object and nothing else, in the form asked for above. \
Change what is named here and nothing else: every figure must be that of the cell which its claim \
names."""


def repair_request(problems: Iterable[str]) -> str:
    """Return what an analyst is asked after a reply with these problems."""
    return REPAIR.format(problem="\n".join(f"- {problem}" for problem in problems))
