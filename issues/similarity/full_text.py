"""PostgreSQL's full-text search in issues and feedback.

The expression must equal that of the index; any other would read every row.
"""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchRank, SearchVector
from django.db.models import QuerySet
from django.db.models.functions import Left

CONFIG = "english"
WEIGHTS = [1.0, 1.0, 1.0, 1.0]
"""Equal weights for all columns."""
OF_ONE_WORD = 0.6079271
"""Rank of a text with a single matching word: 6
π².
"""
MAX_FOUND = 200


def vector_of(bounds: Sequence[tuple[str, int]]) -> SearchVector:
    """Return the search vector of some columns, truncated since long texts cannot be indexed."""
    return SearchVector(*(Left(name, most) for name, most in bounds), config=CONFIG)


def found_in(
    rows: QuerySet[Any], bounds: Sequence[tuple[str, int]], words: Sequence[str]
) -> dict[int, float]:
    """Return the approximate share of the words in each matching row, in [0, 1].

    Args:
        words: Plain words, without operators.
    """
    if not words:
        return {}
    query = reduce(or_, (SearchQuery(word, config=CONFIG) for word in words))
    rank = SearchRank("searched", query, weights=WEIGHTS)
    having = rows.annotate(searched=vector_of(bounds)).filter(searched=query)
    best = having.annotate(rank=rank).order_by("-rank", "-pk").values_list("pk", "rank")
    return {pk: min(1.0, found / OF_ONE_WORD) for pk, found in best[:MAX_FOUND]}
