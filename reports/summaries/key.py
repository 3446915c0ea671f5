"""The anonymous ids of one exchange: what they stand for, and how they are drawn.

Developers are MK_…, models MD_…, system prompts S_…, temperatures T_…, tests P_…, groups of tests
G_…. Numbers of the first four are drawn at random under a seed, so that neither they nor their
order reveal anything; equal seeds and subjects give equal ids.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any, NamedTuple

FIRST = {"MK": 5000, "MD": 6000, "S": 7000, "T": 8000}
"""First of the thousand numbers from which ids are drawn."""


class Subject(NamedTuple):
    """The attributes that distinguish a run. `temperature` None: the default."""

    run: int
    language_model: int
    model_name: str
    developer: str
    system_prompt: str
    temperature: float | None


class Model(NamedTuple):
    """The model behind an id: its name in the runs, and its row id."""

    name: str
    language_model: int


class System(NamedTuple):
    """The system prompt behind an id. `title` is its name on pages; `text` may be ""."""

    title: str
    text: str


class Variant(NamedTuple):
    """A model under one system prompt and temperature, by ids; "" where all runs have the same.

    `runs` answered as this variant, the newest last.
    """

    developer: str
    model: str
    system: str
    temperature: str
    runs: tuple[int, ...]

    @property
    def label(self) -> str:
        """Its name in the request, such as MK_5312/MD_6127 (sys: S_7004, temp: T_8400)."""
        named = {"sys": self.system, "temp": self.temperature}
        settings = ", ".join(f"{name}: {value}" for name, value in named.items() if value)
        return f"{self.developer}/{self.model}" + (f" ({settings})" if settings else "")


@dataclass(frozen=True)
class Key:
    """The ids of one exchange: developers ("" if unknown), tests (row ids), titles of groups."""

    developers: Mapping[str, str]
    models: Mapping[str, Model]
    systems: Mapping[str, System] = field(default_factory=dict)
    temperatures: Mapping[str, float | None] = field(default_factory=dict)
    variants: Sequence[Variant] = ()
    tests: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Key":
        """Restore the key from `to_json`; {} is one without ids."""
        return cls(
            developers=dict(stored.get("developers", {})),
            models={name: Model(*entry) for name, entry in stored.get("models", {}).items()},
            systems={name: System(*entry) for name, entry in stored.get("systems", {}).items()},
            temperatures=dict(stored.get("temperatures", {})),
            variants=tuple(
                Variant(developer, model, system, temperature, tuple(runs))
                for developer, model, system, temperature, runs in stored.get("variants", ())
            ),
            tests=dict(stored.get("tests", {})),
            groups=dict(stored.get("groups", {})),
        )

    def matching(self, ids: Mapping[str, str]) -> list[Variant]:
        """Return the variants with all given ids of developer, model, system and temperature."""
        return [
            variant
            for variant in self.variants
            if all(getattr(variant, name) == value for name, value in ids.items())
        ]


def make_key(subjects: Sequence[Subject], seed: int) -> Key:
    """Draw ids for the subjects, and order the variants at random.

    Models of unknown developers get a developer id each: nothing says that they share one.
    System prompts and temperatures have ids where they tell runs apart, or are set at all.
    """
    random = Random(seed)
    developers = _drawn("MK", (developer_of(subject) for subject in subjects), random)
    models = _drawn("MD", (subject.language_model for subject in subjects), random)
    systems = _drawn("S", _varying({s.system_prompt for s in subjects}, ""), random)
    temperatures = _drawn("T", _varying({s.temperature for s in subjects}, None), random)
    runs: dict[Variant, list[int]] = {}
    for subject in subjects:
        variant = Variant(
            developers[developer_of(subject)],
            models[subject.language_model],
            systems.get(subject.system_prompt, ""),
            temperatures.get(subject.temperature, ""),
            (),
        )
        runs.setdefault(variant, []).append(subject.run)
    variants = [variant._replace(runs=tuple(sorted(runs[variant]))) for variant in sorted(runs)]
    random.shuffle(variants)
    names = {subject.language_model: subject.model_name for subject in subjects}
    texts = sorted(text for text in systems if text)
    titles = {text: f"System prompt {number}" for number, text in enumerate(texts, 1)}
    return Key(
        developers={
            name: developer if isinstance(developer, str) else ""
            for developer, name in developers.items()
        },
        models={name: Model(names[model], model) for model, name in models.items()},
        systems={
            name: System(titles.get(text, "No system prompt"), text)
            for text, name in systems.items()
        },
        temperatures={name: value for value, name in temperatures.items()},
        variants=tuple(variants),
    )


def developer_of(subject: Subject) -> str | int:
    """Return the developer's name, or the model itself if unknown."""
    return subject.developer or subject.language_model


def _varying(values: set[Any], unset: Any) -> set[Any]:
    """Return the values that get an id: all that differ, and a single one if set."""
    return values if len(values) > 1 or unset not in values else set()


def _drawn(kind: str, values: Iterable[Any], random: Random) -> dict[Any, str]:
    """Draw an id for each different value, independent of their order."""
    ordered = sorted(set(values), key=lambda value: (str(type(value)), str(value)))
    first = FIRST[kind]
    numbers = random.sample(range(first, first + max(1000, len(ordered))), len(ordered))
    return {value: f"{kind}_{number}" for value, number in zip(ordered, numbers, strict=True)}
