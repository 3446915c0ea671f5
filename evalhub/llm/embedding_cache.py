"""The table of cached embeddings."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Embedding(models.Model):
    """A text's vector, cached by content, so that none is paid for twice.

    `digest` covers the text and the embedding model's settings; `vector` holds
    `dimensions` numbers of 32 bits, the lowest byte first.
    """

    digest = models.CharField(max_length=64, unique=True)
    model_name = models.CharField(max_length=200)
    dimensions = models.PositiveIntegerField()
    vector = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="evalhub_embedding_dimensions_positive", condition=Q(dimensions__gte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dimensions} numbers by {self.model_name}"
