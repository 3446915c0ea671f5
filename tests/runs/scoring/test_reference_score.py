"""Scores against a slow reckoning that follows the rules word for word."""

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from issues.models import FrozenCriterion, Polarity
from issues.rubrics.scales import FIVE_CLASSES
from runs.scoring.active_evaluation_rule import HumanScore
from runs.scoring.coverage_rule import JudgeValue, consensus_of, coverage_of
from runs.scoring.score import Rule

CLASSES = st.sampled_from([option.value for option in FIVE_CLASSES.options])
HALF = 0.5 + 1e-9
"""A score of one half does not pass, whatever its last digits."""

WEIGHTS = st.sampled_from([0.1, 0.5, 1.0, 2.0, 10.0])


@st.composite
def criteria(draw, at_most=6):
    rows = [FrozenCriterion(pk=0, key="")]
    for number in range(1, draw(st.integers(1, at_most)) + 1):
        alternative = draw(st.none() | st.integers(1, 3))
        rows.append(
            FrozenCriterion(
                pk=number,
                key=f"c{number}",
                text="Is right.",
                polarity=draw(st.sampled_from(Polarity.values)),
                weight=draw(WEIGHTS),
                alternative=alternative,
                mandatory=alternative is None and draw(st.sampled_from([True, False, False])),
            )
        )
    return rows


@st.composite
def votes(draw, rows):
    """What up to three judges say of each criterion, each once or twice, in any order."""
    given = [
        JudgeValue(row.pk, judge, judge == 2, draw(st.none() | CLASSES), None)
        for row in rows[1:]
        for judge in range(draw(st.integers(0, 3)))
        for _ in range(draw(st.integers(1, 2)))
    ]
    return draw(st.permutations(given))


@st.composite
def cases(draw):
    rows = draw(criteria())
    return rows, draw(votes(rows)), draw(st.none() | st.floats(-1, 1)), draw(st.floats(0, 1))


SCALES = {1: (0.0, 0.5, 1.0), 2: (0.25, 0.75), None: (0.0, 0.3, 1.0)}
"""Values of the scales of two judge templates, and of checks."""


@st.composite
def partial_votes(draw, rows):
    """What is known where up to four judgments are missing: of samples, judges and checks."""
    given, missing = [], 0
    for row in rows[1:]:
        is_check = draw(st.booleans())
        template = None if is_check else draw(st.sampled_from([1, 2]))
        asked = [None] if is_check else [j for j in (0, 1) for _ in range(draw(st.integers(1, 2)))]
        for judge in asked:
            value = draw(st.none() | st.sampled_from(SCALES[template]))
            value = value if value is not None or missing < 4 else SCALES[template][0]
            missing += value is None
            given.append(JudgeValue(row.pk, judge, False, value, template))
        if not is_check and draw(st.booleans()):  # perhaps of an earlier try, since made good
            given.append(JudgeValue(row.pk, 2, True, draw(st.none() | CLASSES), template))
    return given


def rule_of(rows, similarity=None, weight=0.0):
    return Rule(rows, similarity, weight, True, pass_threshold=0.5, pass_rule="strict", scale=None)


# The slow way ------------------------------------------------------------------------------------


def mean(numbers):
    return sum(numbers) / len(numbers) if numbers else None


def reference_value(row, votes):
    """The mean over judges of the mean of what each answered; of the backup if others failed."""
    mine = [vote for vote in votes if vote.criterion == row.pk]
    own = [vote for vote in mine if not vote.is_backup]
    mine = own if own and all(vote.value is not None for vote in own) else mine
    mine = [vote for vote in mine if vote.value is not None]
    each = [
        mean([Fraction(v.value) for v in mine if v.judge == j]) for j in {v.judge for v in mine}
    ]
    return mean(each)


def reference_scores(rows, values):
    """The score of a rubric in which these values were found."""
    scores = {
        row.pk: 1 - values[row.pk] if row.polarity == "should_not" else values[row.pk]
        for row in rows
        if values.get(row.pk) is not None
    }
    mandatory = [scores.get(row.pk) for row in rows if row.mandatory]
    if None in mandatory:
        return None
    if any(score <= Fraction(1, 2) for score in mandatory):
        return 0
    points = [
        (scores[r.pk], Fraction(r.weight)) for r in rows if not r.alternative and r.pk in scores
    ]
    for polarity, chosen in (("should", max), ("should_not", min)):
        ways = []
        for number in range(1, 4):
            way = [r for r in rows if (r.alternative, r.polarity) == (number, polarity)]
            way = [(scores[r.pk], Fraction(r.weight)) for r in way if r.pk in scores]
            ways += [sum(s * w for s, w in way) / sum(w for _, w in way)] if way else []
        points += [(chosen(ways), Fraction(1))] if ways else []
    return sum(s * w for s, w in points) / sum(w for _, w in points) if points else None


def nearly(one, other):
    return one is other if other is None else one is not None and abs(one - float(other)) < 1e-9


# Compared ----------------------------------------------------------------------------------------


@given(cases())
def test_rubric_scores_match_the_reference(case):
    rows, votes, similarity, weight = case
    rubric = reference_scores(rows[1:], {row.pk: reference_value(row, votes) for row in rows[1:]})
    wanted = rubric
    if rubric is not None and weight:
        wanted = None if similarity is None else (1 - weight) * rubric + weight * max(0, similarity)
    assert nearly(rule_of(rows, similarity, weight).score(consensus_of(votes)), wanted)


@given(st.data())
def test_bounds_are_those_of_all_completions(data):
    rows = data.draw(criteria(at_most=4))
    votes = data.draw(partial_votes(rows))
    weight, similarity = data.draw(st.sampled_from([(0.0, None), (0.3, 0.5), (0.3, None)]))
    rule = rule_of(rows, similarity, weight)
    missing = [n for n, v in enumerate(votes) if v.value is None and not v.is_backup]
    lacking = {votes[n].criterion for n in missing}

    def score(votes):
        values = {row.pk: reference_value(row, votes) for row in rows[1:]}
        rubric = reference_scores(rows[1:], values)
        if rubric is None or not weight:
            return rubric
        return None if similarity is None else (1 - weight) * rubric + weight * similarity

    def completed(values):
        by_place = dict(zip(missing, values, strict=True))
        whole = [v._replace(value=by_place.get(n, v.value)) for n, v in enumerate(votes)]
        return [v for v in whole if not (v.is_backup and v.criterion in lacking)]

    completions = product(*(SCALES[votes[n].template] for n in missing))
    scores = [score(votes), *(score(completed(values)) for values in completions)]
    low, high = (0, 1) if scores[0] is None else (min(scores), max(scores))
    ends = {template: (min(values), max(values)) for template, values in SCALES.items()}
    found = rule.bounds(consensus_of(votes), rule.completions(votes, ends))
    assert nearly(found.lowest_score, low)
    assert nearly(found.highest_score, high)
    assert (found.lowest_passed, found.highest_passed) == (low > HALF, high > HALF)
    coverage = coverage_of(votes)
    assert coverage.expected - coverage.answered == len(missing)


@given(st.data())
def test_dispute_is_settled_only_where_every_opinion_would_settle_it_so(data):
    rows = data.draw(criteria())
    judged = {row.pk: data.draw(st.none() | CLASSES) for row in rows[1:]}
    opinions = st.lists(CLASSES, min_size=1, max_size=3)
    verdicts = {
        row.pk: HumanScore(data.draw(opinions)) for row in rows[1:] if data.draw(st.booleans())
    }
    rule = rule_of(rows)
    one_each = {pk: data.draw(st.sampled_from(v.values)) for pk, v in verdicts.items()}
    sides = {rule.passes(rule.score({**judged, **end})) for end in rule.ends(verdicts)}
    assert rule.passes(rule.score({**judged, **one_each})) in sides
