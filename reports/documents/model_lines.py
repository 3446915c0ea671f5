"""Names and styles of models' lines in figures, the same on every page. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from evalhub.display.formatting import clip, listed, words

COLOURS = tuple(f"var(--eh-line-{number})" for number in range(1, 8))
"""CSS variables of `static/evalhub/colours.css`, distinct from each other and from the outcomes."""

MARKERS = ("circle", "square", "diamond", "triangle-up", "star")
DASHES = ("solid", "dash", "dot", "dashdot")


@dataclass(frozen=True)
class LineStyle:
    """Colour and marker tell the model, the dash tells its variants apart."""

    colour: str
    marker: str
    dash: str = "solid"


def line_style(model: int, variant: int = 0) -> LineStyle:
    """Return the line style of a model by its ID; `variant` counts its lines in one figure.

    Models keep their ids for ever, so each looks the same on every page. The first 35 differ.
    """
    return LineStyle(
        COLOURS[model % len(COLOURS)], MARKERS[model % len(MARKERS)], DASHES[variant % len(DASHES)]
    )


def line_style_of_name(name: str) -> LineStyle:
    """Return the line style of something without an ID, such as a jury."""
    return line_style(crc32(name.encode()))


@dataclass(frozen=True)
class Variant:
    """A model with its settings; `params` are all that are sent."""

    key: str
    model_id: int
    model: str
    system_prompt: str
    params: Mapping[str, Any]


def names_of(variants: Sequence[Variant]) -> dict[str, str]:
    """Return the name of each variant by key: its model, and its settings where they differ.

    Names that are still equal are numbered.
    """
    by_model: dict[str, list[Variant]] = defaultdict(list)
    for variant in variants:
        by_model[variant.model].append(variant)
    names: dict[str, str] = {}
    seen: dict[str, int] = defaultdict(int)
    for model, alike in by_model.items():
        for variant in alike:
            name = " · ".join([model, *_own(variant, alike)])
            seen[name] += 1
            names[variant.key] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return names


def line_styles(variants: Sequence[Variant]) -> dict[str, LineStyle]:
    """Return the line style of each variant by key."""
    names = names_of(variants)
    seen: dict[int, int] = defaultdict(int)
    looks = {}
    for variant in sorted(variants, key=lambda v: (len(names[v.key]), names[v.key])):
        looks[variant.key] = line_style(variant.model_id, seen[variant.model_id])
        seen[variant.model_id] += 1
    return looks


def _own(variant: Variant, alike: Sequence[Variant]) -> Iterable[str]:
    """Return the settings that tell this variant from the others of its model."""
    if len({other.system_prompt for other in alike}) > 1:
        prompt = clip(" ".join(variant.system_prompt.split()), 40)
        yield f"system prompt “{prompt}”" if prompt else "no system prompt"
    for name in sorted({name for other in alike for name in other.params}):
        values = [other.params.get(name) for other in alike]
        if any(value != values[0] for value in values):
            value = variant.params.get(name)
            yield f"no {words(name)}" if value is None else f"{words(name)} {value}"


def difference(before: Variant, now: Variant) -> str:
    """Return what a variant has that an earlier one had not, such as "with temperature 0"."""
    parts = []
    if before.model != now.model:
        parts.append(f"in place of {before.model}")
    if before.system_prompt != now.system_prompt:
        parts.append("with a new system prompt" if now.system_prompt else "without system prompt")
    for name in sorted({*before.params, *now.params}):
        old, new = before.params.get(name), now.params.get(name)
        if old != new and new is None:
            parts.append(f"without {words(name)} (was {old})")
        elif old != new:
            parts.append(f"with {words(name)} {new}" + (f" (was {old})" if old is not None else ""))
    return listed(parts) or "with other settings of its address"
