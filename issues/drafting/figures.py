"""Quality of generators: form, hits of the intended option, and acceptance."""

from collections.abc import Iterable
from dataclasses import dataclass

from evalhub.models import ItemState
from issues.models import Decision, Draft


@dataclass
class GeneratorFigures:
    """Counts of one generator's drafts.

    `in_form` are those whose every reply could be read at once, of `ended`, which have a text or
    failed. `hits` are those whose label is the intended option, of `labelled`. `accepted` is of
    `decided` by a person.
    """

    generator: str
    ended: int = 0
    in_form: int = 0
    failed: int = 0
    labelled: int = 0
    hits: int = 0
    dropped: int = 0
    decided: int = 0
    accepted: int = 0

    def add(self, draft: Draft) -> None:
        self.ended += draft.state in (ItemState.DONE, ItemState.ERROR)
        self.failed += draft.state == ItemState.ERROR
        self.in_form += draft.state == ItemState.DONE and not draft.failures
        self.labelled += draft.is_hit is not None
        self.hits += draft.is_hit is True
        self.dropped += draft.decision == Decision.DROPPED
        self.decided += draft.decision in (Decision.ACCEPTED, Decision.REJECTED)
        self.accepted += draft.decision == Decision.ACCEPTED


def figures_of(drafts: Iterable[Draft]) -> list[GeneratorFigures]:
    """Return the figures of each generator, by name."""
    found: dict[str, GeneratorFigures] = {}
    for draft in drafts:
        name = str(draft.generation.generator)
        found.setdefault(name, GeneratorFigures(name)).add(draft)
    return [found[name] for name in sorted(found)]
