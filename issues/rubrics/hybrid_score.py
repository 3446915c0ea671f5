"""Hybrid score: a rubric's score mixed with similarity to the reference answer. Pure."""


def hybrid(rubric: float | None, similarity: float | None, weight: float) -> float | None:
    """Return the score (1 - β)·rubric + β·max(0, similarity).

    Args:
        rubric: Score of the rubric, in [0, 1]; None if unscored.
        similarity: Cosine of answer and reference, in [-1, 1]; None if not measured. Negative
            values count as 0.
        weight: β, the share of similarity, in [0, 1]; with 0 it is ignored.

    Returns:
        The score, in [0, 1]. None if the rubric is unscored, since similarity never replaces it, or
        if β > 0 and the similarity was not measured.

    Raises:
        ValueError: β or a score is out of range.
    """
    _check("weight of similarity", weight, 0)
    _check("score", rubric, 0)
    _check("similarity", similarity, -1)
    if rubric is None or weight == 0:
        return rubric
    return None if similarity is None else (1 - weight) * rubric + weight * score_of(similarity)


def score_of(similarity: float) -> float:
    """Return the score of a similarity, in [0, 1]: 0 if negative."""
    return max(0.0, similarity)


def _check(what: str, number: float | None, least: int) -> None:
    if number is not None and not least <= number <= 1:
        raise ValueError(f"expected a {what} from {least} to 1, got {number}")
