"""How much, how many and how long: rows of tables, what a report compares, waiting and keeping."""

# Rows of tables ----------------------------------------------------------------------------------

TABLE_PAGE_SIZE = 50
RESULTS_PAGE_SIZE = 15
"""Results in the grid of a run."""
SUMMARIES_PAGE_SIZE = 25
CARD_ROWS = 6
"""Rows of a table on a card of the start page."""
MAX_RUN_ROWS = 200
"""Results in the document of a run: the first of the grid."""
MAX_FLAKY_TESTS = 200
GATE_FLIPS = 200
"""Flipped tests listed in Markdown, which ends up in comments of pull requests."""

# What a report compares --------------------------------------------------------------------------

MAX_COMPARED_RUNS = 12
"""Runs side by side."""
MAX_RELEASES = 12
MAX_SIMILAR_VARIANTS = 30
"""Variants compared: those that answered last."""
MAX_CLUSTERED_ANSWERS = 1500
"""Failed answers compared, the first of the run."""
MAX_SUMMARISED_RUNS = 40
USUAL_CONTEXT = 32_000
"""Tokens that nearly every model reads; more can be entered."""

# Waiting and keeping -----------------------------------------------------------------------------

MAX_GATE_WAIT_S = 20
"""Longest wait of one request: it occupies a thread of the web server."""
MAX_SNAPSHOTS = 100
"""Snapshots of one report; older ones are deleted."""
