from collections import Counter

from runs.laboratory.trials.claims.claim_rule import ArtifactFacts, Hardness, Kind, claims_of
from tests.runs.laboratory.trials.graphs import artifacts

EQUALITY = (Kind.EQUAL, Kind.DIFFERENT)


def test_each_description_gives_every_pair_of_languages_once():
    # 40 ideas of 3 languages give 3 pairs each; two lost a program and have 1 pair left.
    lost = {(100, "java"), (205, "pl1")}
    found = claims_of(artifacts(topics=4, ideas=10, corrupted=lost), seed=1, kinds=EQUALITY)

    assert Counter(claim.kind for claim in found) == {"equal": 116, "different": 116}


def test_no_text_is_paired_with_itself_and_no_pair_comes_twice():
    found = claims_of(artifacts(topics=4, ideas=10), seed=1)

    assert all(claim.left != claim.right for claim in found)
    pairs = [(claim.kind, claim.anchor, *sorted((claim.left, claim.right))) for claim in found]
    assert len(set(pairs)) == len(pairs)


def test_false_claims_in_a_cluster_are_of_the_cluster_and_others_of_two_topics():
    clustered = artifacts(topics=2, ideas=8, is_clustered=True, start=7)
    facts = [*artifacts(topics=3, ideas=4), *clustered]
    topic = {one.key: one.topic for one in facts}

    for claim in claims_of(facts, seed=3, kinds=[Kind.DIFFERENT]):
        is_one = topic[claim.left] == topic[claim.right]
        assert is_one == (topic[claim.left] >= 7)
        assert (claim.hardness is Hardness.WITHIN_CLUSTER) == is_one


def test_false_claims_have_the_languages_of_true_ones():
    facts = artifacts(topics=4, ideas=5)
    language = {one.key: one.path[-2] for one in facts if len(one.path) > 1}
    pairs: dict[str, Counter] = {kind: Counter() for kind in EQUALITY}
    for claim in claims_of(facts, seed=1, kinds=EQUALITY):
        pairs[claim.kind][language[claim.left], language[claim.right]] += 1

    assert pairs[Kind.EQUAL] == pairs[Kind.DIFFERENT]


def test_a_seed_draws_the_same_claims_and_another_one_others():
    facts = artifacts(topics=4, ideas=10)

    assert claims_of(facts, seed=1) == claims_of(facts[::-1], seed=1)
    assert claims_of(facts, seed=1) != claims_of(facts, seed=2)


def test_without_another_idea_there_is_no_false_claim():
    found = claims_of(artifacts(topics=1, ideas=1), seed=1)

    assert {claim.truth for claim in found} == {True}
    assert Kind.RANK not in {claim.kind for claim in found}


def test_a_cycle_claims_that_its_end_means_its_beginning():
    cycles = [
        ArtifactFacts(
            10 * idea + 3,
            idea,
            idea,
            False,
            ("cobol", "java", "python", "cobol"),
            is_code=True,
            ancestors=tuple(10 * idea + n for n in range(3)),
        )
        for idea in (1, 2)
    ]
    starts = [ArtifactFacts(10 * idea, idea, idea, False, ("cobol",), True) for idea in (1, 2)]
    found = claims_of([*cycles, *starts], seed=1)

    said = {(claim.kind, claim.left, claim.right, claim.truth) for claim in found}
    assert said == {
        ("loop", 10, 13, True),
        ("loop", 10, 23, False),
        ("loop", 20, 23, True),
        ("loop", 20, 13, False),
    }


def test_a_summary_is_claimed_to_describe_its_own_description_only():
    facts = artifacts(topics=2, ideas=2, languages=("java",))
    idea = {one.key: one.idea for one in facts}
    found = claims_of(facts, seed=1, kinds=[Kind.DESCRIBES, Kind.RANK])

    described = [claim for claim in found if claim.kind is Kind.DESCRIBES]
    assert Counter(claim.truth for claim in described) == {True: 4, False: 4}
    assert all((idea[one.left] == idea[one.right]) == one.truth for one in described)
    ranked = [claim for claim in found if claim.kind is Kind.RANK]
    assert len(ranked) == 4
    assert all(idea[one.anchor] == idea[one.left] != idea[one.right] for one in ranked)


def test_composed_programs_give_a_claim_for_each_part():
    single = artifacts(topics=1, ideas=3, languages=("java", "cobol"))
    composed = [
        ArtifactFacts(
            9000 + n, None, None, False, ("description", language, "summary"), parts=(100, 101, 102)
        )
        for n, language in enumerate(("java", "cobol"))
    ]
    found = claims_of([*single, *composed], seed=1, kinds=[Kind.PART, Kind.CONTEXT])

    parts = [claim for claim in found if claim.kind is Kind.PART]
    assert [claim.idea for claim in parts] == [100, 101, 102]
    contexts = [claim for claim in found if claim.kind is Kind.CONTEXT]
    # Each of 3 programs in 2 languages, once as its own part and once as another's.
    assert Counter(claim.truth for claim in contexts) == {True: 6, False: 6}
