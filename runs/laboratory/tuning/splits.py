"""Stratified random assignment of tests to the development and held-out splits. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

DEVELOPMENT, HELD_OUT = "development", "held_out"


@dataclass(frozen=True)
class SampledTest:
    """A test to assign to a split.

    `asked` holds digests of its prompts: tests that share one stay together. `failed`: annotators
    failed at least half of its answers.
    """

    test: int
    asked: frozenset[str]
    failed: bool


def splits(
    tests: Iterable[SampledTest],
    *,
    seed: int,
    kept: Mapping[int, str],
    taught: Collection[int] = (),
) -> dict[int, str]:
    """Assign each test, by its id, to a split; equal arguments give equal splits.

    Tests that annotators failed are divided evenly, and so are those they passed.

    Args:
        seed: Seed of the random draw.
        kept: Splits of earlier tunings; tests stay in them, so that nobody has read texts of the
            held-out split. Tests with a shared prompt that were in both are development.
        taught: Tests used as examples in the judge's prompt: they are development.
    """
    known = {**kept, **dict.fromkeys(taught, DEVELOPMENT)}
    found: dict[int, str] = {}
    counts: Counter[tuple[bool, str]] = Counter()
    undrawn = []
    for group in groups(tests):
        before = {known[one.test] for one in group if one.test in known}
        if before:
            split = DEVELOPMENT if DEVELOPMENT in before else HELD_OUT
            _put(group, split, found, counts)
        else:
            undrawn.append(group)
    for group in sorted(undrawn, key=lambda group: _draw(seed, group)):
        _put(group, _smaller_split(counts, _has_failed(group)), found, counts)
    return found


def groups(tests: Iterable[SampledTest]) -> list[list[SampledTest]]:
    """Group tests that share a prompt, directly or through another test; each sorted by id."""
    ordered = sorted(tests, key=lambda one: one.test)
    parent = {one.test: one.test for one in ordered}

    def root(test: int) -> int:
        while parent[test] != test:
            test = parent[test]
        return test

    first_with: dict[str, int] = {}
    for one in ordered:
        for text in one.asked:
            other = root(first_with.setdefault(text, one.test))
            mine = root(one.test)
            parent[max(mine, other)] = min(mine, other)
    found: dict[int, list[SampledTest]] = {}
    for one in ordered:
        found.setdefault(root(one.test), []).append(one)
    return list(found.values())


def _put(
    group: list[SampledTest], split: str, found: dict[int, str], counts: Counter[tuple[bool, str]]
) -> None:
    found.update((one.test, split) for one in group)
    counts[_has_failed(group), split] += len(group)


def _has_failed(group: list[SampledTest]) -> bool:
    return 2 * sum(one.failed for one in group) >= len(group)


def _draw(seed: int, group: list[SampledTest]) -> str:
    return sha256(f"{seed}:{group[0].test}".encode()).hexdigest()


def _smaller_split(counts: Counter[tuple[bool, str]], failed: bool) -> str:
    """Return the split with fewer tests of this kind; if equal, with fewer tests overall."""

    def size(split: str) -> tuple[int, int]:
        return counts[failed, split], counts[True, split] + counts[False, split]

    return DEVELOPMENT if size(DEVELOPMENT) <= size(HELD_OUT) else HELD_OUT
