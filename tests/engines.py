"""Which tests run on PostgreSQL too."""

from pathlib import Path

TESTS = Path(__file__).resolve().parent
BOTH_ENGINES = (
    # Locks, claims, leases, deliveries, and transactions that several processes share.
    "evalhub/work",
    "evalhub/access/test_exposures.py",
    "evalhub/audit",
    "evalhub/access/test_request_limits.py",
    "evalhub/llm/test_embeddings.py",
    "evalhub/test_kept_values.py",
    "evalhub/test_many_numbers.py",
    "evalhub/test_idempotency.py",
    "evalhub/operations/test_backup.py",
    "evalhub/notifications/test_outbox.py",
    "issues/test_revisions.py",
    "issues/test_merging.py",
    "runs/launching/test_exposure.py",
    "runs/pairwise/test_evaluations.py",
    "runs/pairwise/test_judge_runs.py",
    "runs/position_bias",
    "runs/trials/generation/test_generation.py",
    "runs/trials/replays/test_replays.py",
    "runs/trials/judges/test_trials.py",
    "runs/tuning/test_attempt_control.py",
    "runs/review/test_queue_items.py",
    "runs/review/test_large_queue.py",
    "runs/review/test_submit.py",
    "runs/review/test_reservations.py",
    # Constraints, and rows that are refused in the middle of a transaction.
    "issues/api/test_bulk.py",
    "issues/api/test_feedback.py",
    "issues/api/test_images.py",
    "issues/test_sealing.py",
    "issues/judge_templates/test_examples.py",
    "issues/judge_templates/test_lifecycle.py",
    # Full text, JSON, generated columns, upserts.
    "issues/similarity/test_search.py",
    "issues/drafting/test_pages.py",
    "issues/drafting/test_work.py",
    "runs/answering/test_work.py",
    "runs/scoring/test_score.py",
    "runs/api/test_exports.py",
    "runs/review/test_api.py",
    # Aggregates: one file for each of the modules in reports/queries.
    "runs/scoring/test_agreement.py",
    "runs/figures/test_tallies.py",
    "runs/figures/test_run_tallies.py",
    "reports/annotators/test_annotators.py",
    "reports/judge_reliability/humans/test_page.py",
    "reports/capabilities/test_page.py",
    "reports/trend/test_changes.py",
    "reports/compare/test_page.py",
    "runs/test_complete_runs.py",
    "reports/drift/test_page.py",
    "reports/queries/test_result_rows.py",
    "reports/heatmap/test_page.py",
    "reports/dashboard/test_cards.py",
    "reports/documents/test_fresh_pages.py",
    "reports/issue_timeline/test_page.py",
    "reports/judge_reliability/judges/test_page.py",
    "reports/leaderboard/test_page.py",
    "reports/runs/test_overview.py",
    "reports/run/test_rubrics.py",
    "reports/run/test_query.py",
    "reports/run/test_sealing.py",
    "reports/similarity/test_similarity.py",
    "reports/trend/test_page.py",
    "reports/judge_reliability/trust/test_page.py",
    "reports/underperforming/test_page.py",
)
"""Files and folders of tests with a database in which the engine matters.

A single test elsewhere, or one that kills, is marked itself. All others run on SQLite alone.
"""
