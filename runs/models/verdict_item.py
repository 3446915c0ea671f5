from django.db import models

from evalhub.models import Call
from evalhub.work.models import Item, ItemQuerySet


class VerdictItem(Item):
    """An item of work on which a judge is asked for a verdict. Done has one, error none.

    `call` is the one that the verdict comes from. A model names its batch, what is judged, the
    fields of the verdict, and with a constraint when they are filled.
    """

    sealed_fields = ("justification", "error_message")

    justification = models.TextField(blank=True)
    was_repaired = models.BooleanField(default=False)
    call = models.ForeignKey(
        Call, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )

    objects = ItemQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ("pk",)
