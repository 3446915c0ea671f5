"""Scores against a slow reckoning that follows the rules word for word."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from issues.models import FrozenCriterion, Polarity
from issues.rubrics.scales import FIVE_CLASSES
from runs.scoring.active_evaluation_rule import HumanScore
from runs.scoring.agreement import JudgeValue
from runs.scoring.score import Rule, consensus_of

CLASSES = st.sampled_from([option.value for option in FIVE_CLASSES.options])
WEIGHTS = st.sampled_from([0.1, 0.5, 1.0, 2.0, 10.0])


@st.composite
def criteria(draw):
    rows = [FrozenCriterion(pk=0, key="")]
    for number in range(1, draw(st.integers(1, 6)) + 1):
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


def rule_of(rows, similarity=None, weight=0.0):
    return Rule(rows, similarity, weight, True, pass_threshold=0.5, pass_rule="strict", scale=None)


# The slow way ------------------------------------------------------------------------------------


def mean(numbers):
    return sum(numbers) / len(numbers) if numbers else None


def reference_value(row, votes):
    """The mean over judges of the mean of what each answered."""
    mine = [vote for vote in votes if vote.criterion == row.pk and vote.value is not None]
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
