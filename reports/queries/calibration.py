"""Judges against people: on which answers both gave a verdict, and what each of them said."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Max, Q, QuerySet

from evalhub.models import BatchState
from issues.rubric import WHOLE_TEST
from reports.judges.accuracy import Checked, Measured, Sample, measured
from reports.pages.shell import Reading
from runs.agreement import VOTE_FIELDS, Vote
from runs.examples import taught_tests
from runs.models import Assessment, ChosenBy, HumanEvaluation, Judging, Judgment, Result, Suite
from runs.scoring import Rule, consensus_of, rules_of
from runs.standing import Evaluation, Verdict, verdict_of, withdrawn

DRAWN = Q(chosen_by=ChosenBy.QUEUE_RANDOM, blind=True)
"""Evaluations of answers that were drawn at random, by people who saw no verdict."""

PIECE = 5000


@dataclass(frozen=True)
class Party:
    """A judge, or the judges of a jury together. `judge_id` is None for a jury."""

    key: str
    name: str
    judge_id: int | None
    is_scripted: bool


@dataclass(frozen=True)
class Evaluated:
    """A run that people judged answers of, and the judging that decides it; None: none is done."""

    run: int
    evaluations: int
    newest: int
    judging: Judging | None


@dataclass(frozen=True)
class Choice:
    """How people came to the answers that they judged, and how often."""

    chosen_by: str
    blind: bool
    n: int


@dataclass(frozen=True)
class Calibration:
    """What is known of judges against people.

    `measured` has the lines of each sample; `disputed` answers people differ on. `taught` says on
    how many answers a party was not measured, for it was taught with an example from their tests.
    """

    parties: dict[str, Party]
    rows: tuple[Checked, ...]
    measured: dict[Sample, list[Measured]]
    disputed: int
    taught: dict[str, int]

    @property
    def answers(self) -> int:
        """Answers that people decided."""
        return len({row.result for row in self.rows if row.people is not None})

    @property
    def drawn(self) -> int:
        """Answers of the random sample that people decided."""
        return len({row.result for row in self.rows if row.drawn is not None})

    def of_judge(self, judge_id: int) -> Measured | None:
        """That judge on the random sample; None where it was not measured there."""
        lines = self.measured[Sample.DRAWN]
        return next((line for line in lines if line.party == judge_key(judge_id)), None)


def judge_key(judge_id: int) -> str:
    return f"judge-{judge_id}"


def jury_key(judging: Judging) -> str:
    """Juries that judged alike are one, whatever they are called."""
    return f"jury-{judging.jury_fingerprint[:12]}"


def choices(suite: Suite | None = None) -> list[Choice]:
    """How people came to what they judged, the most frequent first; one query."""
    rows = _evaluations(suite).exclude(kind="withdrawal").values("chosen_by", "blind")
    counted = rows.annotate(n=Count("pk")).values_list("chosen_by", "blind", "n")
    found = [Choice(str(ChosenBy(chosen).label), blind, n) for chosen, blind, n in counted]
    return sorted(found, key=lambda choice: (-choice.n, choice.chosen_by, choice.blind))


def evaluated_runs(*, suite: Suite | None = None, last: int) -> list[Evaluated]:
    """The newest runs that people judged answers of; two queries."""
    counted = _evaluations(suite).values("result__run_id").annotate(n=Count("pk"), top=Max("pk"))
    found = list(
        counted.order_by("-result__run_id").values_list("result__run_id", "n", "top")[:last]
    )
    judgings = Judging.objects.filter(run__in=[run for run, _, _ in found], is_current=True)
    deciding = {one.run_id: one for one in judgings.filter(state=BatchState.DONE)}
    return [Evaluated(run, n, top, deciding.get(run)) for run, n, top in found]


def _evaluations(suite: Suite | None) -> QuerySet[HumanEvaluation]:
    rows: QuerySet[HumanEvaluation] = HumanEvaluation.objects.order_by()
    return rows if suite is None else rows.filter(result__run__suite=suite)


def calibration(runs: Sequence[Evaluated], reading: Reading) -> Calibration | None:
    """Judges against people in these runs, computed once and kept; None: not computed yet."""
    found = reading.computed("calibration-2", inputs_of(runs), lambda: _measure(runs))
    return found and Calibration(_parties(runs), *found)


def inputs_of(runs: Iterable[Evaluated]) -> list[list[object]]:
    """All that the calibration depends on, as JSON."""
    return [[one.run, one.evaluations, one.newest, *version_of(one.judging)] for one in runs]


def version_of(judging: Judging | None) -> list[object]:
    """What changes with a judging's judgments, as JSON."""
    return [judging.pk, str(judging.finished_at), judging.statistics] if judging else []


def _parties(runs: Iterable[Evaluated]) -> dict[str, Party]:
    """Juries and their judges by key; the newest run names them."""
    found: dict[str, Party] = {}
    for judging in (one.judging for one in runs if one.judging):
        judges = _judges(judging)
        scripted = [bool(judge["endpoint"].get("is_scripted")) for judge in judges]
        jury = judging.jury_name or ", ".join(judge["name"] for judge in judges)
        key = jury_key(judging)
        found.setdefault(key, Party(key, f"{jury} (together)", None, any(scripted)))
        for judge, is_scripted in zip(judges, scripted, strict=True):
            key = judge_key(judge["judge"])
            found.setdefault(key, Party(key, judge["name"], judge["judge"], is_scripted))
    return found


def _judges(judging: Judging) -> list[dict[str, Any]]:
    backup = judging.jury.get("backup")
    return [*judging.jury.get("judges", ()), *([backup] if backup else [])]


# Reading -----------------------------------------------------------------------------------------

Found = tuple[tuple[Checked, ...], dict[Sample, list[Measured]], int, dict[str, int]]


def _measure(runs: Sequence[Evaluated]) -> Found:
    found = list(_checked(runs, _people(runs)))
    rows = tuple(row for row, is_taught in found if not is_taught)
    lines = {sample: measured(rows, sample) for sample in Sample}
    disputed = {row.result for row in rows if row.people is None}
    taught = Counter(row.party for row, is_taught in found if is_taught)
    return rows, lines, len(disputed), dict(taught)


class Voice(NamedTuple):
    """One evaluation; `drawn`: the answer came at random, and nothing was seen of its judges."""

    pk: int
    annotator_id: int
    kind: str
    value: float | None
    drawn: bool


Said = Mapping[int, Mapping[int, Sequence[Voice]]]
"""Evaluations, withdrawals included and oldest first, by result and criterion."""


EVALUATION = (
    "result_id",
    "criterion_id",
    "pk",
    "annotator_id",
    "kind",
    "value",
    "chosen_by",
    "blind",
)


def _people(runs: Iterable[Evaluated]) -> Said:
    rows = HumanEvaluation.objects.filter(result__run__in=[one.run for one in runs]).order_by("pk")
    said: dict[int, dict[int, list[Voice]]] = defaultdict(lambda: defaultdict(list))
    for result, criterion, pk, who, kind, value, chosen, blind in rows.values_list(*EVALUATION):
        drawn = blind and chosen == ChosenBy.QUEUE_RANDOM
        said[result][criterion].append(Voice(pk, who, kind, value, drawn))
    return said


def _checked(runs: Iterable[Evaluated], said: Said) -> Iterator[tuple[Checked, bool]]:
    """What every judge, every jury and people said of each answer that people judged.

    With each: whether the party was taught with an example from the answer's test.
    """
    judgings = {one.run: one.judging for one in runs if one.judging}
    places = _places(said)
    votes = _votes(judgings.values())
    passed = _passed(judgings.values())
    teaching = taught_tests({v.template for given in votes.values() for v in given if v.template})
    for start in range(0, len(places), PIECE):
        piece = dict(list(places.items())[start : start + PIECE])
        rules = rules_of(piece)
        for result, (run, issue, test) in piece.items():
            if run not in judgings:
                continue
            people = _verdicts(said[result], votes[result], rules[result])
            if people is None:
                continue
            jury = jury_key(judgings[run])
            taught = _taught(votes[result], test, teaching)
            taught |= {jury} if taught else set()
            own = _own(votes[result], rules[result])
            for party, verdict in {jury: passed.get(result), **own}.items():
                yield Checked(party, result, run, issue, verdict, *people), party in taught


def _taught(votes: Iterable[Vote], test: int, taught: Mapping[int, Collection[int]]) -> set[str]:
    """Judges who were asked about an answer to this test with a wording that teaches from it."""
    return {
        judge_key(vote.judge)
        for vote in votes
        if vote.judge is not None and vote.template and test in taught.get(vote.template, ())
    }


def _places(said: Said) -> dict[int, tuple[int, int, int]]:
    """Run, issue and test of each result that people judged."""
    found: dict[int, tuple[int, int, int]] = {}
    ids = sorted(said)
    for start in range(0, len(ids), PIECE):
        rows = Result.objects.filter(pk__in=ids[start : start + PIECE]).order_by("pk")
        fields = rows.values_list("pk", "run", "issue", "test")
        found |= {pk: (run, issue, test) for pk, run, issue, test in fields}
    return found


def _votes(judgings: Iterable[Judging]) -> dict[int, list[Vote]]:
    """The judgments of results that people judged, as given and not reversed."""
    runs = {judging.run_id for judging in judgings}
    rows = Judgment.objects.filter(
        judging__in=judgings, result__in=_results(runs), order=0
    ).order_by()
    found: dict[int, list[Vote]] = defaultdict(list)
    for result, *vote in rows.values_list("result_id", *VOTE_FIELDS):
        found[result].append(Vote(*vote))
    return found


def _passed(judgings: Iterable[Judging]) -> dict[int, bool | None]:
    runs = {judging.run_id for judging in judgings}
    rows = Assessment.objects.filter(judging__in=judgings, result__in=_results(runs)).order_by()
    return dict(rows.values_list("result_id", "passed"))


def _results(runs: Iterable[int]) -> QuerySet[HumanEvaluation, Any]:
    return HumanEvaluation.objects.filter(result__run__in=runs).order_by().values("result")


def _own(votes: Iterable[Vote], rule: Rule) -> dict[str, bool | None]:
    """Each judge's verdict as if it had judged alone; what checks found holds for all."""
    votes = list(votes)
    judges = {vote.judge for vote in votes if vote.judge is not None}
    return {
        judge_key(judge): rule.passes(
            rule.score(consensus_of(vote for vote in votes if vote.judge in (judge, None)))
        )
        for judge in sorted(judges)
        if any(vote.value is not None for vote in votes if vote.judge == judge)
    }


def _verdicts(
    said: Mapping[int, Sequence[Voice]], votes: Iterable[Vote], rule: Rule
) -> tuple[bool | None, bool | None] | None:
    """What people, and those of the random sample, decided; None: they spoke of parts only."""
    checks = consensus_of(vote for vote in votes if vote.judge is None)
    by_all = {pk: verdict for pk, all_ in said.items() if (verdict := _verdict(all_))}
    drawn = {pk: verdict for pk, all_ in said.items() if (verdict := _verdict(_drawn(all_)))}
    if not _speak_of_all(by_all, checks, rule):
        return None
    blind = _decided(drawn, checks, rule) if _speak_of_all(drawn, checks, rule) else None
    return _decided(by_all, checks, rule), blind


def _verdict(voices: Iterable[Voice]) -> Verdict | None:
    return verdict_of(Evaluation(v.annotator_id, v.kind, v.value) for v in voices)


def _drawn(voices: Sequence[Voice]) -> list[Voice]:
    """Those of people who got the answer at random, and adjudications of what they said.

    What somebody took back does not count; what they said later, having seen more, neither.
    """
    undone = {voice.pk for voice in withdrawn(voices)}
    left = [voice for voice in voices if voice.pk not in undone and voice.kind != "withdrawal"]
    if not any(voice.drawn for voice in left):
        return []
    return [voice for voice in left if voice.drawn or voice.kind == "adjudication"]


def _whole(verdicts: Mapping[int, Verdict], rule: Rule) -> Verdict | None:
    ids = (c.pk for c in rule.criteria if c.key == WHOLE_TEST)
    return next((verdicts[pk] for pk in ids if pk in verdicts), None)


def _speak_of_all(
    verdicts: Mapping[int, Verdict], checks: Mapping[int, float | None], rule: Rule
) -> bool:
    """Whether people judged the whole, or each point that is not decided by a check."""
    if not verdicts:
        return False
    return _whole(verdicts, rule) is not None or rule.is_covered({*verdicts, *checks})


def _decided(
    verdicts: Mapping[int, Verdict], checks: Mapping[int, float | None], rule: Rule
) -> bool | None:
    """Whether it passes, by all that count; None where they lie on both sides of the line."""
    whole = _whole(verdicts, rule)
    if whole is not None:
        sides = {rule.passes(value) for value in whole.values}
    else:
        sides = {rule.passes(rule.score({**checks, **end})) for end in rule.ends(verdicts)}
    return sides.pop() if len(sides) == 1 else None
