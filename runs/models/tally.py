from django.db import models

from evalhub.model_parts import known
from issues.models import Issue, Origin
from runs.models.run import Run, TagSet


class RunTally(models.Model):
    """The state of the `TallyRow` rows of a run; see `runs.figures.run_tallies`.

    `version` is drawn anew whenever the results are counted. Null: they changed since, and neither
    the rows nor anything cached under the version holds. `lacking` counts the results without a
    score by judges: errors, unscored and pending ones. The active judge run gave `answered` of its
    `expected` judgments.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="tally")
    version = models.UUIDField(null=True)
    lacking = models.PositiveIntegerField(default=0)
    expected = models.PositiveIntegerField(default=0)
    answered = models.PositiveIntegerField(default=0)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"tally of run {self.pk}"


class TallyRow(models.Model):
    """Results of a complete run added up by issue, tags and origin.

    The columns after these are the sums of their names in `runs.figures.run_tallies.TALLIED`, each
    outcome in a column of its own, and those of the judges' outcomes, without overrides, in further
    ones. Null: no result has a value.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="+", db_index=False)
    issue = models.ForeignKey(Issue, models.CASCADE, related_name="+", db_index=False)
    tag_set = models.ForeignKey(TagSet, models.CASCADE, related_name="+", db_index=False)
    origin = models.CharField(max_length=10, choices=Origin)
    passed = models.PositiveIntegerField()
    failed = models.PositiveIntegerField()
    unscored = models.PositiveIntegerField()
    error = models.PositiveIntegerField()
    pending = models.PositiveIntegerField()
    with_score = models.PositiveIntegerField()
    lowest_passed = models.PositiveIntegerField(help_text="That pass at their lowest score.")
    highest_passed = models.PositiveIntegerField(help_text="At their highest; 1 without a score.")
    weights = models.FloatField(help_text="Σ w of those with a score.")
    weighted_score = models.FloatField(help_text="Σ w·s.")
    similar = models.PositiveIntegerField(help_text="With a measured similarity.")
    overridden = models.PositiveIntegerField()
    disputed = models.PositiveIntegerField()
    sum_in = models.BigIntegerField(null=True, help_text="Input tokens.")
    sum_out = models.BigIntegerField(null=True, help_text="Output tokens.")
    sum_cost = models.DecimalField(max_digits=20, decimal_places=8, null=True)
    with_tokens = models.PositiveIntegerField()
    with_cost = models.PositiveIntegerField()
    answered = models.PositiveIntegerField(help_text="Answers and errors.")
    answers_cost = models.DecimalField(
        max_digits=20, decimal_places=8, null=True, help_text="Without that of errors."
    )
    answers_with_cost = models.PositiveIntegerField()
    sum_latency = models.BigIntegerField(null=True, help_text="Milliseconds; without errors.")
    with_latency = models.PositiveIntegerField()
    mixed_weight = models.FloatField(help_text="Σ w of those that judges and similarity score.")
    mixed = models.FloatField(help_text="Σ w·s of the same.")
    similarities = models.FloatField(help_text="Σ w·max(0, similarity) of the same.")
    judges_passed = models.PositiveIntegerField(default=0)
    judges_failed = models.PositiveIntegerField(default=0)
    judges_unscored = models.PositiveIntegerField(default=0)
    judges_error = models.PositiveIntegerField(default=0)
    judges_pending = models.PositiveIntegerField(default=0)
    judges_lowest_passed = models.PositiveIntegerField(default=0)
    judges_highest_passed = models.PositiveIntegerField(default=0)
    judges_with_score = models.PositiveIntegerField(default=0)
    judges_weights = models.FloatField(default=0)
    judges_weighted_score = models.FloatField(default=0)

    class Meta:
        default_permissions = ()
        constraints = [
            known("runs_tally_row_origin_known", "origin", Origin),
            models.UniqueConstraint(
                name="runs_tally_row_once", fields=("run", "issue", "tag_set", "origin")
            ),
        ]

    def __str__(self) -> str:
        return f"tally of issue {self.issue_id} in run {self.run_id}"
