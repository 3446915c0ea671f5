"""Ideas of topics: near duplicates are kept, marked as dropped, and counted."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Max

from issues.similarity.near_duplicates import Compared, near_duplicates
from runs.laboratory.trials.models import Benchmark, Idea, IdeaState, Source, Topic


class AddedIdeas(NamedTuple):
    """The ids of the new active ideas, and the number of dropped ones."""

    active: list[int]
    dropped: int


def family_of(benchmark: Benchmark) -> list[int]:
    """Return the benchmark and those that it is a fresh instance of, so that none repeats one."""
    found: list[int] = []
    row: Benchmark | None = benchmark
    while row is not None and row.pk not in found:
        found.append(row.pk)
        row = row.parent
    return found


def earlier_ideas(benchmark: Benchmark) -> Sequence[Idea]:
    rows = Idea.objects.filter(topic__benchmark__in=family_of(benchmark))
    return list(rows.exclude(state=IdeaState.DROPPED).order_by("pk"))


def earlier_names(topic: Topic) -> list[str]:
    """Return the names of ideas that a new one of this topic must not repeat."""
    rows = Idea.objects.filter(topic__benchmark__in=family_of(topic.benchmark))
    return list(rows.filter(topic__title=topic.title).order_by("pk").values_list("name", flat=True))


def add_ideas(topic: Topic, texts: Mapping[str, str]) -> AddedIdeas:
    """Add the ideas of a reply, whose fields are "name 1", "idea 1" and so on."""
    count = len(texts) // 2
    last = topic.ideas.aggregate(last=Max("place"))["last"] or 0
    new = [
        Idea(
            topic=topic,
            name=texts[f"name {n}"][:200],
            statement=texts[f"idea {n}"],
            place=last + n,
            source=Source.MODEL,
        )
        for n in range(1, count + 1)
    ]
    twins = repeated(new, earlier_ideas(topic.benchmark))
    for idea in new:
        if twin := twins.get(idea.place):
            idea.state, idea.reason = IdeaState.DROPPED, f"It repeats “{twin}”."
    made = Idea.objects.bulk_create(new)
    active = [idea.pk for idea in made if idea.state == IdeaState.ACTIVE]
    return AddedIdeas(active, len(made) - len(active))


def repeated(new: Sequence[Idea], earlier: Sequence[Idea]) -> dict[int, str]:
    """Return for each new idea, by place, that repeats another one the name of that one.

    Related ideas differ by a word or two, so that the statement alone shows a near duplicate only
    if it is the same.
    """
    found: dict[int, str] = {}
    names: dict[str, str] = {}
    for idea in earlier:
        names |= dict.fromkeys(_keys(idea), idea.name)
    old = [Compared(f"old {one.pk}", "", (one.name, one.statement)) for one in earlier]
    near = near_duplicates([Compared(one.place, "", (one.name, one.statement)) for one in new], old)
    by_key: dict[Hashable, str] = {f"old {one.pk}": one.name for one in earlier} | {
        one.place: one.name for one in new
    }
    for idea in new:
        same = next((names[key] for key in _keys(idea) if key in names), "")
        if twin := same or by_key.get(near.get(idea.place), ""):
            found[idea.place] = twin
        else:
            names |= dict.fromkeys(_keys(idea), idea.name)
    return found


def _keys(idea: Idea) -> list[str]:
    return [text.strip().casefold() for text in (idea.name, idea.statement) if text.strip()]
