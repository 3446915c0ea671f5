from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone

from evalhub.history import History
from runs.comparison.release_order_rule import Named, ReleaseOrder, are_versions, arranged


class ReleaseManager(models.Manager["Release"]):
    def named(self, name: str) -> "Release":
        """Return the release of this name, new where there is none."""
        release, is_new = self.get_or_create(name=name)
        if is_new:
            self.arrange()
        return release

    def in_order(self) -> ReleaseOrder:
        """Return the one order of releases; one query."""
        rows = self.order_by("position", "pk").values_list("name", "before__name", "created_at")
        return ReleaseOrder(tuple(Named(name, before or "", at) for name, before, at in rows))

    def are_versions(self) -> bool:
        """Return whether all releases are named for versions, which then order them."""
        return are_versions(self.order_by().values_list("name", flat=True))

    @transaction.atomic
    def arrange(self, moved: "Release | None" = None) -> None:
        """Number the releases from 1: by version where all are versions, else as people set them.

        Args:
            moved: The release that gets the place which its position names.
        """
        list(self.select_for_update().order_by("pk"))  # new ones are numbered one after another
        rows = {row.name: row for row in self.order_by("position", "pk")}
        names = list(rows)
        if moved is not None:
            names.remove(moved.name)
            names.insert(max(0, moved.position - 1), moved.name)
        for position, name in enumerate(arranged(names), 1):
            if rows[name].position != position:
                self.filter(name=name).update(position=position)


class Release(models.Model):
    """A named state of what is tested: what people say about it, once for all its runs.

    A run keeps the name of its release as it keeps the name of its model: by copy. A release has a
    row from its first run on, and its name stays.
    """

    name = models.CharField(max_length=100, unique=True)
    position = models.PositiveIntegerField(
        default=2**31 - 1,
        help_text="Place in the order, 1 is the lowest. Versions order themselves.",
    )
    before = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name="predecessor",
        help_text="The release that this one came from and is compared with. Empty: the next lower "
        "one.",
    )
    notes = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    history = History(excluded_fields=["position"])
    objects = ReleaseManager()

    class Meta:
        ordering = ("-position", "-pk")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("admin:runs_release_change", args=[self.pk])

    def clean(self) -> None:
        """Keep a predecessor from which a way leads back to no release."""
        one, seen = self.before, {self.name}
        while one is not None:
            if one.name in seen:
                problem = f"{self.before} itself came from {self.name}: choose another release."
                raise ValidationError({"before": problem})
            seen.add(one.name)
            one = one.before

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        deleted = super().delete(*args, **kwargs)
        Release.objects.arrange()
        return deleted


class NamesRelease(models.Model):
    """A row that names its release, which has a row of its own from then on."""

    release: str

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is None and self.release:
            Release.objects.named(self.release)
        super().save(*args, **kwargs)
