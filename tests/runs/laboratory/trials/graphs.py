"""Graphs of artifacts in memory, and judges as functions of a claim and its order."""

from itertools import count

from runs.laboratory.trials.claims.claim_rule import ArtifactFacts, Hardness, Kind
from runs.laboratory.trials.judges.measures import ClaimVerdict

LANGUAGES = ("cobol", "java", "pl1")


def artifacts(*, topics, ideas, is_clustered=False, languages=LANGUAGES, corrupted=(), start=1):
    """Return descriptions and summaries; `corrupted` are (idea, language) without a summary."""
    keys, found = count(1000 * start), []
    for topic in range(start, start + topics):
        for number in range(ideas):
            idea = 100 * topic + number
            root = next(keys)
            about = {"idea": idea, "topic": topic, "is_clustered": is_clustered}
            found.append(ArtifactFacts(root, path=("description",), **about))
            for language in languages:
                code = next(keys)
                if (idea, language) in corrupted:
                    continue
                path = ("description", language, "summary")
                found.append(ArtifactFacts(next(keys), path=path, ancestors=(root, code), **about))
    return found


def verdicts(claims, facts, judge, *, threshold=4, orders=(0, 1)):
    """Return the verdicts of `judge(claim, order)`, which gives a score, or None if it fails."""
    idea_of = {one.key: one.idea for one in facts}
    topic_of = {one.idea: one.topic for one in facts}
    clustered = {one.topic for one in facts if one.is_clustered}
    found = []
    for claim in claims:
        for order in orders:
            score = judge(claim, order)
            topic = str(topic_of[claim.idea])
            shown = ((claim.left, None), (claim.right, None))
            found.append(
                ClaimVerdict(
                    kind=claim.kind,
                    task="rank" if claim.kind is Kind.RANK else "similarity",
                    truth=claim.truth != (claim.kind is Kind.RANK and order == 1),
                    verdict=None if score is None else score >= threshold,
                    score=score,
                    shown=shown[::-1] if order else shown,
                    ideas=(claim.idea, idea_of[claim.right]),
                    topic=topic,
                    cluster=topic if int(topic) in clustered else "",
                    is_hard=claim.hardness is Hardness.WITHIN_CLUSTER and not claim.truth,
                    anchor=claim.anchor,
                )
            )
    return found
