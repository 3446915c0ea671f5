from django.core.exceptions import ValidationError
from django.db import models

from evalhub.history import History
from issues.models import Tag, Test
from runs.launching.launch_options import problems_of_defaults
from runs.suites.gate_policy import GatePolicy, read_policy


class Suite(models.Model):
    """A named set of tests with launch defaults, such as an imported blueprint.

    `defaults` holds options of `runs.launching.launch_options.LaunchSpec`, such as models and jury;
    `gate` those rules of `runs.suites.gate_policy.GatePolicy` that differ from the default.
    A living suite has a `filter` in place of `tests`; `runs.suites.suite_tests.tests_in` reads
    either.
    """

    name = models.CharField(max_length=150, unique=True)
    description = models.TextField(blank=True)
    tests = models.ManyToManyField(Test, blank=True, related_name="suites")
    filter = models.TextField(
        blank=True,
        help_text="A filter of tests, such as domain=3&state=approved. Each launch takes the tests "
        "that match then.",
    )
    tags = models.ManyToManyField(Tag, blank=True, related_name="suites")
    baselines = models.ManyToManyField(
        "runs.Run",
        blank=True,
        related_name="+",
        help_text="One run of each model, which later runs of it are compared with, on pages and "
        "in CI. Without one it is the release before.",
    )
    baseline_release = models.ForeignKey(
        "runs.Release",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Fixed reference of later releases, beside the release before. Empty: the first "
        "comparable release.",
    )
    defaults = models.JSONField(
        default=dict,
        blank=True,
        help_text="Launch options that a launch of this suite starts with.",
    )
    gate = models.JSONField(
        default=dict,
        blank=True,
        help_text="Rules of the gate; {} fails a significant regression.",
    )
    reopens_issues = models.BooleanField(
        "reopens issues by itself",
        default=False,
        help_text="Reopen a resolved issue without asking when runs of this suite show that it "
        "fails again. Otherwise it is proposed.",
    )
    extras = models.JSONField(
        default=dict, blank=True, help_text="Fields of its source that have no place here."
    )
    source_id = models.CharField(max_length=200, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    history = History(m2m_fields=[tests, tags, baselines])

    class Meta:
        ordering = ("name",)
        constraints = [
            models.UniqueConstraint(
                name="runs_suite_source_once",
                fields=("source_id",),
                condition=~models.Q(source_id=""),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Keep defaults with which a launch can start."""
        if not isinstance(self.defaults, dict):
            problem = f"Enter an object of fields, not {self.defaults!r}."
            raise ValidationError({"defaults": problem})
        if problems := problems_of_defaults(self.defaults):
            raise ValidationError({"defaults": problems})

    @property
    def gate_policy(self) -> GatePolicy:
        return read_policy(self.gate)


class SuiteVersion(models.Model):
    """The tests of a suite that a launch ran: a new version wherever they differ from the last.

    `tests` are their ids, sorted.
    """

    suite = models.ForeignKey(
        Suite, models.CASCADE, related_name="versions", db_index=False, editable=False
    )
    number = models.PositiveIntegerField()
    tests = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-number",)
        constraints = [
            models.UniqueConstraint(name="runs_suiteversion_once", fields=("suite", "number")),
        ]

    def __str__(self) -> str:
        return f"version {self.number} of {self.suite}"
