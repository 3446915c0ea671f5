from django.db import models

from evalhub.access.sealed import SealedQuerySet
from issues.models.template import JudgeTemplate
from issues.models.test import Test


class TemplateExample(models.Model):
    """An answer with the verdict that people gave it, shown to the judges of a template.

    The texts are copies, as they were when it was made, and fixed with the template. `test` is
    where they come from: its results are never judged with this example, and never measured by
    it; null where a person wrote the example for the template. `option` is a label of its scale.
    """

    sealed_path = "test__sealed"
    sealed_fields = ("input", "output", "reference", "guidelines", "criterion", "justification")

    template = models.ForeignKey(JudgeTemplate, models.CASCADE, related_name="examples")
    test = models.ForeignKey(
        Test, models.PROTECT, null=True, blank=True, related_name="template_examples"
    )
    order = models.PositiveSmallIntegerField(default=0)
    input = models.TextField(blank=True)
    output = models.TextField()
    reference = models.TextField(blank=True)
    guidelines = models.TextField(blank=True)
    criterion = models.TextField(blank=True, help_text="Empty: of the test as a whole.")
    option = models.CharField(max_length=60)
    justification = models.TextField(blank=True)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("template", "order", "pk")

    def __str__(self) -> str:
        return f"example {self.order} of {self.template}"
