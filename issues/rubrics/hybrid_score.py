"""The hybrid score: a rubric's score mixed with nearness to the reference answer."""


def hybrid(rubric: float | None, similarity: float | None, weight: float) -> float | None:
    """The score (1 - β)·rubric + β·max(0, similarity).

    Args:
        rubric: The score of the rubric, in [0, 1]; None: nothing of it could be scored.
        similarity: Cosine of the answer and the reference, in [-1, 1]; None: not measured. Below
            0 it counts as 0.
        weight: β, the share that similarity makes up, in [0, 1]. With 0 it is not looked at.

    Returns:
        The score, in [0, 1]. None where the rubric has none, for similarity never takes its
        place, or where β > 0 and the similarity was not measured.

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
    """What a similarity is worth as a score, in [0, 1]: below 0 it is 0."""
    return max(0.0, similarity)


def _check(what: str, number: float | None, least: int) -> None:
    if number is not None and not least <= number <= 1:
        raise ValueError(f"expected a {what} from {least} to 1, got {number}")
