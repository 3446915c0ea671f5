from typing import Any

from django.db import models
from django.urls import reverse


class RowWithPage(models.Model):
    """A row that has a page of its own in the admin."""

    class Meta:
        abstract = True

    def get_absolute_url(self) -> str:
        model: Any = self._meta.concrete_model
        name = model._meta.label_lower.replace(".", "_")
        return reverse(f"admin:{name}_change", args=[self.pk])
