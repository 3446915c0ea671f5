"""Deciders by group of answers: one judge, two that agree, or a human. Pure.

Only answers drawn at random and judged blind count. One judge or jury decides alone where the rule
of trust allows it on the group's answers; else two judges for which it holds where they agree, if
they agree on at least half of the answers; else a human. All groups are decided together.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from evalhub.statistics.judges.judge_metrics import counts_by_issue
from reports.judge_reliability.accuracy_rule import Checked, Measured, Sample, measured
from reports.judge_reliability.concerns_rule import Trust
from reports.judge_reliability.trust_rule import NOTHING, Evidence, HumanProof, Proof, decide

MIN_AGREED = 0.5
"""Two judges that agree more rarely save too little human work."""

EVERYTHING = ""
"""The group of all answers."""

JUDGE = "judge-"

TRUSTS = {
    Proof.SHOWN: Trust.TRUSTED,
    Proof.BELOW: Trust.UNRELIABLE,
    Proof.OPEN: Trust.CAUTION,
    Proof.TOO_FEW: Trust.UNKNOWN,
}


class Decider(StrEnum):
    ONE = "one judge"
    TWO = "two judges that agree"
    HUMAN = "a human"
    UNKNOWN = "not known yet"


@dataclass(frozen=True)
class Line:
    """A judge or jury in one group.

    Attributes:
        human_proof: Of the random sample, which may be empty where `sample` is not that.
        concern: Why it may not decide, whatever humans say; "" for nothing.
    """

    sample: Sample
    found: Measured
    human_proof: HumanProof
    concern: str = ""

    @property
    def trust(self) -> Trust:
        return Trust.UNRELIABLE if self.concern else TRUSTS[self.human_proof.proof]


@dataclass(frozen=True)
class Pair:
    """Two judges in one group: `both` gave a verdict, and agreed on `agreed` answers."""

    first: str
    second: str
    both: int
    agreed: int
    human_proof: HumanProof

    @property
    def is_enough(self) -> bool:
        often = self.both > 0 and round(self.agreed / self.both, 9) >= MIN_AGREED
        return often and self.human_proof.proof is Proof.SHOWN

    @property
    def left_to_annotators(self) -> float:
        """The share of answers on which they disagree."""
        return 1 - self.agreed / self.both


@dataclass(frozen=True)
class TrustEntry:
    """A group of answers and its decider.

    `parties` are those that decide, or the best known one. `drawn` answers were drawn at random
    and have a human verdict.
    """

    group: str
    decider: Decider
    parties: tuple[str, ...]
    left_to_annotators: float | None
    drawn: int
    lines: tuple[Line, ...]
    pairs: tuple[Pair, ...]

    def line_of(self, party: str) -> Line | None:
        return next((line for line in self.lines if line.found.party == party), None)

    @property
    def best(self) -> Line | None:
        """The line of the party that decides alone, or of the best known one."""
        return self.line_of(self.parties[0]) if len(self.parties) == 1 else None


@dataclass(frozen=True)
class _Group:
    """The questions of one group: its parties on the random sample, and its judge pairs."""

    rows: Sequence[Checked]
    drawn: Sequence[Measured]
    pairs: Mapping[tuple[str, str], tuple[int, int, Evidence]]

    @property
    def evidence(self) -> dict[tuple[str, ...], Evidence]:
        alone: dict[tuple[str, ...], Evidence] = {(one.party,): one.evidence for one in self.drawn}
        return alone | {names: found[2] for names, found in self.pairs.items()}


def entries_of(
    rows: Iterable[Checked],
    groups: Mapping[int, Collection[str]],
    *,
    concerns: Mapping[str, str] | None = None,
) -> list[TrustEntry]:
    """Return each group, those with most random answers first; "" is that of all answers.

    Args:
        groups: The groups of each result; one without is in no group.
        concerns: Why parties may not decide, by key.
    """
    by_group: dict[str, list[Checked]] = defaultdict(list)
    for row in rows:
        for group in groups.get(row.result, ()):
            by_group[group].append(row)
    asked = {
        group: _Group(mine, measured(mine, Sample.DRAWN), _pairs(mine))
        for group, mine in by_group.items()
    }
    proofs = decide(
        {(name, *who): one for name, group in asked.items() for who, one in group.evidence.items()}
    )
    entries = [_entry(name, group, proofs, concerns or {}) for name, group in asked.items()]
    return sorted(entries, key=lambda e: (e.group != EVERYTHING, -e.drawn, e.group))


def _entry(
    name: str,
    group: _Group,
    proofs: Mapping[tuple[str, ...], HumanProof],
    concerns: Mapping[str, str],
) -> TrustEntry:
    """Choose who decides in one group."""
    lines = [
        Line(Sample.DRAWN, one, proofs[name, one.party], concerns.get(one.party, ""))
        for one in group.drawn
    ]
    pairs = tuple(
        Pair(*names, both, agreed, proofs[(name, *names)])
        for names, (both, agreed, _) in group.pairs.items()
    )
    free = [pair for pair in pairs if not concerns.keys() & {pair.first, pair.second}]
    decider, who, left = _decider(lines, free)
    return TrustEntry(
        group=name,
        decider=decider,
        parties=who,
        left_to_annotators=left,
        drawn=len({row.result for row in group.rows if row.drawn is not None}),
        lines=(*lines, *_selected(group, concerns)),
        pairs=pairs,
    )


def _decider(
    lines: Sequence[Line], pairs: Sequence[Pair]
) -> tuple[Decider, tuple[str, ...], float | None]:
    """Return who decides, with the parties and the share of answers left to annotators."""
    alone = [line for line in lines if line.trust is Trust.TRUSTED]
    if alone:
        best = max(alone, key=lambda line: line.human_proof.low)
        return Decider.ONE, (best.found.party,), 0.0
    enough = [pair for pair in pairs if pair.is_enough]
    if enough:
        two = min(enough, key=lambda pair: (pair.left_to_annotators, pair.first, pair.second))
        return Decider.TWO, (two.first, two.second), two.left_to_annotators
    known = [line for line in lines if line.trust is not Trust.UNKNOWN]
    if known:
        best = max(known, key=lambda line: (not line.concern, line.human_proof.low))
        return Decider.HUMAN, (best.found.party,), 1.0
    nearest = min(lines, key=_distance, default=None)
    return Decider.UNKNOWN, (nearest.found.party,) if nearest else (), None


def _distance(line: Line) -> tuple[int, str]:
    passes, fails = line.human_proof.missing
    return (passes or 0) + (fails or 0), line.found.party


def _selected(group: _Group, concerns: Mapping[str, str]) -> list[Line]:
    """Return the parties that have a human verdict on answers that annotators chose only."""
    met = {found.party for found in group.drawn}
    others = [one for one in measured(group.rows, Sample.ALL) if one.party not in met]
    return [Line(Sample.ALL, one, NOTHING, concerns.get(one.party, "")) for one in others]


def _pairs(rows: Iterable[Checked]) -> dict[tuple[str, str], tuple[int, int, Evidence]]:
    """Compare every two judges on the random answers that both judged.

    Returns:
        Answers that both judged, on which they agree, and the evidence of the latter.
    """
    by_result: dict[int, dict[str, Checked]] = defaultdict(dict)
    for row in rows:
        if row.party.startswith(JUDGE) and row.counts_in(Sample.DRAWN):
            by_result[row.result][row.party] = row
    both: dict[tuple[str, str], list[tuple[Checked, Checked]]] = defaultdict(list)
    for verdicts in by_result.values():
        for first, second in combinations(sorted(verdicts), 2):
            both[first, second].append((verdicts[first], verdicts[second]))
    pairs = {}
    for names, found in sorted(both.items()):
        agreed = [one for one, other in found if one.judged == other.judged]
        counts = counts_by_issue(row.pair(Sample.DRAWN) for row in agreed)
        pairs[names] = len(found), len(agreed), Evidence.of(counts.values())
    return pairs
