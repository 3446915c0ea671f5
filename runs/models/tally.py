from django.db import models
from django.db.models import Q

from evalhub.constraints import known
from issues.models import Issue, Origin
from runs.models.run import Outcome, Run, TagSet


class RunTally(models.Model):
    """The state of the `TallyRow` rows of a run: exact or not; see `runs.figures.run_tallies`.

    `lacking` counts the results without a score: errors, unscored and pending ones.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="tally")
    is_exact = models.BooleanField(default=False)
    lacking = models.PositiveIntegerField(default=0)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"tally of run {self.pk}"


class TallyRow(models.Model):
    """Results of a complete run added up by issue, tags, origin and outcome.

    Every column after these is a sum over the `n` results, made by the aggregate of its name in
    `runs.figures.run_tallies.TALLIED`. Null: no result has a value.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="+", db_index=False)
    issue = models.ForeignKey(Issue, models.CASCADE, related_name="+", db_index=False)
    tag_set = models.ForeignKey(TagSet, models.CASCADE, related_name="+", db_index=False)
    origin = models.CharField(max_length=10, choices=Origin)
    outcome = models.CharField(max_length=8, choices=Outcome)
    n = models.PositiveIntegerField()
    with_score = models.PositiveIntegerField()
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
    sum_latency = models.BigIntegerField(null=True, help_text="Milliseconds.")
    with_latency = models.PositiveIntegerField()
    mixed_weight = models.FloatField(help_text="Σ w of those that judges and similarity score.")
    mixed = models.FloatField(help_text="Σ w·s of the same.")
    similarities = models.FloatField(help_text="Σ w·max(0, similarity) of the same.")
    overridden_weight = models.FloatField()
    overridden_score = models.FloatField(help_text="Σ w·s of those with a human verdict.")
    test_ids = models.BigIntegerField(help_text="Σ of the tests' ids: tells which tests they are.")
    test_scores = models.FloatField(help_text="Σ test id·w·s: tells which test has which score.")

    class Meta:
        default_permissions = ()
        constraints = [
            known("runs_tally_row_origin_known", "origin", Origin),
            known("runs_tally_row_outcome_known", "outcome", Outcome),
            models.CheckConstraint(name="runs_tally_row_counts", condition=Q(n__gt=0)),
            models.UniqueConstraint(
                name="runs_tally_row_once",
                fields=("run", "issue", "tag_set", "origin", "outcome"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.n} {self.outcome} of run {self.run_id}"
