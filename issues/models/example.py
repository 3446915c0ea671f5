from django.core.exceptions import ValidationError
from django.db import models

from evalhub.access.sealing.readers import SealedQuerySet
from issues.limits import MAX_EXAMPLE_CHARACTERS
from issues.models.template import JudgeTemplate, TemplatePart
from issues.models.test import Test
from issues.rubrics.scales import ScaleError, from_json


class TemplateExample(TemplatePart):
    """An answer with its human verdict, shown to the judges of a template.

    The texts are copies from when it was made, fixed with the template. `test` is their source: its
    results are never judged with this example and never measured by it; null if written for the
    template. `option` is a label of the scale.
    """

    part = "example"
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
    criterion = models.TextField(blank=True, help_text="Leave empty for the test as a whole.")
    option = models.CharField(max_length=60)
    justification = models.TextField(blank=True)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("template", "order", "pk")

    def __str__(self) -> str:
        return f"example {self.order} of {self.template}"

    def clean(self) -> None:
        if problems := self.problems():
            raise ValidationError(problems)

    def problems(self) -> dict[str, str]:
        """Return the example's problems by field."""
        problems = {}
        if not self.output.strip():
            problems["output"] = "Enter the answer that was judged."
        if problem := self._option_problem():
            problems["option"] = problem
        size = sum(len(getattr(self, name)) for name in self.sealed_fields)
        if size > MAX_EXAMPLE_CHARACTERS:
            problems["output"] = (
                f"The example has {size:,} characters; the maximum is {MAX_EXAMPLE_CHARACTERS:,}. "
                "Shorten it."
            )
        if self.test is not None and self.test.sealed:
            problems["__all__"] = (
                f"Test {self.test_id} is sealed, and its text would be in every prompt of this "
                "template. Remove the example."
            )
        return problems

    def _option_problem(self) -> str:
        try:
            scale = from_json(self.template.scale)
        except ScaleError:
            return ""  # the scale itself says what is wrong
        labels = [option.label for option in scale.options]
        if self.option in labels:
            return ""
        offered = ", ".join(labels)
        return f"{self.option!r} is not on the template's scale. Choose one of {offered}."
