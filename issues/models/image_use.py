from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.db import models

from evalhub.llm.content.content_parts import images_in
from evalhub.model_parts import optional_user
from evalhub.models import Image

if TYPE_CHECKING:
    from issues.models.feedback import Feedback
    from issues.models.test import Test

HOLDERS = ("test", "feedback", "uploader")


class ImageUseManager(models.Manager["ImageUse"]):
    def note(self, rows: "Iterable[Test | Feedback]") -> None:
        """Record the stored images that tests or feedback refer to; what is known stays."""
        named = [(row, digest) for row in rows for digest in images_in(row.messages)]
        if not named:
            return
        digests = {digest for _, digest in named}
        stored = set(Image.objects.filter(pk__in=digests).values_list("pk", flat=True))
        self.bulk_create(
            [
                ImageUse(image_id=digest, **{row._meta.model_name or "": row})
                for row, digest in named
                if digest in stored
            ],
            ignore_conflicts=True,
        )


class ImageUse(models.Model):
    """A test or feedback that refers to an image, or refers no longer, or a user who uploaded it.

    One of the three. Revisions and old versions of a test show what it referred to, so uses
    are kept.
    """

    image = models.ForeignKey(Image, models.PROTECT, related_name="uses")
    test = models.ForeignKey("issues.Test", models.CASCADE, null=True, related_name="image_uses")
    feedback = models.ForeignKey(
        "issues.Feedback", models.CASCADE, null=True, related_name="image_uses"
    )
    uploader = optional_user()

    objects = ImageUseManager()

    class Meta:
        constraints = [
            *(
                models.UniqueConstraint(
                    name=f"issues_imageuse_{holder}_once",
                    fields=("image", holder),
                    condition=models.Q(**{f"{holder}__isnull": False}),
                )
                for holder in HOLDERS
            ),
            models.CheckConstraint(
                name="issues_imageuse_one_holder",
                condition=models.Q(test=None) | models.Q(feedback=None),
            ),
        ]

    def __str__(self) -> str:
        return f"use of {self.image_id}"
