"""How much, how many and how long: launches, files of other tools, results, review, laboratory."""

# Launches ----------------------------------------------------------------------------------------

MAX_REPEATS = 100
MAX_PROMPTS = 100
MAX_TEMPERATURES = 20
"""Per list; each makes a run or a judge."""
MAX_JUDGE_SAMPLES = 25
"""Verdicts of a judge on one answer."""
MAX_CHOICES = 300
"""Choices listed in the form; select others in their own list, which has filters."""
MAX_ANSWERS = 100_000
"""Answers in a file."""
MAX_ANSWER_FILE_BYTES = 10 * 1024 * 1024

# Files of other tools ----------------------------------------------------------------------------

MAX_IMPORT_BYTES = 16 * 1024 * 1024
MAX_UNPACKED_BYTES = 64 * 1024 * 1024
MAX_ARCHIVE_ENTRIES = 20_000
MAX_IMPORT_LINES = 20_000
MAX_PEER_TESTS = 5000
"""Tests in a file of another tool, read or written."""
MAX_YAML_CHARACTERS = 2_000_000

# Results -----------------------------------------------------------------------------------------

MAX_OVERRIDES_AT_ONCE = 1000
"""Results overridden at once: each is scored again."""
MAX_NAVIGATED_RESULTS = 5000
"""Results of a list between which one can go on and back."""
RETENTION_ROWS_PER_MINUTE = 10_000
"""Rows whose texts a worker's reaper removes at a time: it has other things to look after."""

# Review ------------------------------------------------------------------------------------------

RESERVED_MINUTES = 30
"""Reservation of an item in a queue, until somebody enters another number."""
MAX_RESERVED_MINUTES = 24 * 60
MAX_REVIEWERS = 9
"""Reviewers of one item."""
REVIEW_PAGE_SIZE = 50
MAX_FILED_RESULTS = 100
"""Results filed as issues at once."""
FILING_UNDO_S = 24 * 3600

# Laboratory --------------------------------------------------------------------------------------

MAX_TRY_CALLS = 200
"""Calls of one try in the playground."""
MAX_WORKBENCH_ROWS = 200
MAX_WORKBENCH_CALLS = 1000
"""Calls of one evaluation."""
MAX_WORKBENCH_SAMPLES = 5
"""Verdicts of a judge on one row."""
MAX_WORKBENCH_PAIRS = 500
MAX_PAIRWISE_RUNS = 8
"""Runs compared by pairwise judges: 28 pairs of runs."""
REVERSED_RESULTS = 50
"""Results judged with reversed options, unless somebody chooses another number."""
MAX_REVERSED_RESULTS = 2000
MIN_TUNING_VERDICTS = 8
"""Fewest human verdicts that leave something to learn from and something to prove it on."""
MAX_TRIAL_JUDGES = 12
MAX_BENCHMARK_BYTES = 8 * 1024 * 1024
MAX_BENCHMARK_LINES = 20_000
MAX_IDEAS = 30
"""Ideas of a generated benchmark, for each topic."""
MAX_TOPICS = 20
CODE_TIMEOUT_S = 5
CODE_MEMORY_BYTES = 512 * 2**20
"""Memory for parsing a generated program."""
