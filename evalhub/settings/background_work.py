"""What workers do in the background, by dotted name."""

EVALHUB_WORK = [
    "runs.answering.work.AnsweringKind",
    "runs.judging.work.JudgingKind",
    "runs.laboratory.tuning.work.TuningKind",
    "runs.laboratory.pairwise.work.PairwiseKind",
    "runs.laboratory.position_bias.work.ReversedKind",
    "runs.laboratory.trials.generation.generation_work.GeneratingKind",
    "runs.laboratory.trials.judges.trial_work.TrialKind",
    "issues.drafting.work.DraftingKind",
    "reports.summaries.work.Summarising",
]
"""Kinds of background work: see `evalhub.work`."""

EVALHUB_EVERY_MINUTE = [
    "evalhub.notifications.outbox.deliver_in_background",
    "issues.assignees.notify_assigned",
    "runs.launching.schedules.launch_scheduled",
    "runs.laboratory.trials.benchmarks.new_benchmarks.make_due_instances",
    "runs.lifecycle.retention.remove_due",
    "runs.figures.run_tallies.count_due",
    "runs.review.queue_items.fill_followers",
    "reports.schedules.due.make_due",
    "reports.issue_proposals.proposals.pull",
    "reports.notifications.notify_finished",
]
"""Functions without arguments that the workers' reaper calls every minute on each machine."""
