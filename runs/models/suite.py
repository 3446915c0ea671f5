from django.db import models
from simple_history.models import HistoricalRecords

from issues.models import Tag, Test


class Suite(models.Model):
    """A named set of tests with launch defaults."""

    name = models.CharField(max_length=150, unique=True)
    description = models.TextField(blank=True)
    tests = models.ManyToManyField(Test, blank=True, related_name="suites")
    tags = models.ManyToManyField(Tag, blank=True, related_name="suites")
    created_at = models.DateTimeField(auto_now_add=True)

    history = HistoricalRecords(m2m_fields=[tests, tags])

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
