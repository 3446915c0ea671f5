from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce


def number_of(rows: QuerySet[Any], field: str) -> Coalesce:
    """Annotation of the number of these rows that refer to each row by the field.

    Several counts of joined rows would multiply these with each other.
    """
    mine = rows.filter(**{field: OuterRef("pk")}).order_by().values(field)
    return Coalesce(Subquery(mine.annotate(n=Count("pk")).values("n")), 0)
