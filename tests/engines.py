"""Which tests `dev.py test` runs on PostgreSQL too; `--all` runs all of them there."""

from pathlib import Path

TESTS = Path(__file__).resolve().parent
BOTH_ENGINES = (
    # Locks, claims, leases, deliveries, and transactions that several processes share.
    "evalhub/work",
    "evalhub/access/sealing/test_exposures.py",
    "evalhub/audit",
    "evalhub/test_database_cache.py",
    "evalhub/test_id_in.py",
    "evalhub/http/test_idempotency.py",
    "evalhub/operations/test_backup.py",
    "evalhub/notifications/test_outbox.py",
    "issues/content/test_revisions.py",
    "issues/lifecycle/test_merging.py",
    "runs/review/test_assignment_actions.py",
    "runs/review/test_reservations.py",
    # Constraints, and rows that are refused in the middle of a transaction.
    "issues/api/test_bulk.py",
    "issues/lifecycle/test_sealing.py",
    # Full text, JSON, generated columns, upserts.
    "issues/similarity/test_search.py",
    "issues/drafting/test_work.py",
    "runs/answering/test_work.py",
    "runs/scoring/test_score.py",
    "runs/api/test_exports.py",
    # Aggregates: of results, and on the pages that add up the most.
    "runs/scoring/test_agreement.py",
    "runs/figures/test_tallies.py",
    "runs/figures/test_run_tallies.py",
    "reports/compare/test_page.py",
    "runs/comparison/test_complete_runs.py",
    "reports/queries/test_result_rows.py",
    "reports/dashboard/test_cards.py",
    "reports/documents/test_fresh_pages.py",
    "reports/leaderboard/test_page.py",
    "reports/run/test_query.py",
    "reports/run/test_sealing.py",
    "reports/trend/test_page.py",
)
"""Files and folders of tests with a database in which the engine matters.

A single test elsewhere, or one that kills, is marked itself. All others run on SQLite alone.
"""
