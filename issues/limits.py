"""How much and how many: drafts, files and requests, rubrics and judge templates, pages."""

# Drafts, and the documents that they rest on -----------------------------------------------------

FIRST_BATCH = 10
"""Drafts of a batch that follows none: a small one shows whether the settings are right."""
LATER_BATCH = 50
"""Drafts of a batch like an earlier one, of which a person accepted some."""
DRAFT_TRIES = 3
"""Calls for one text: repairs of its form, or the same request again after a refusal."""
DRAFT_EXAMPLES = 5
"""Tests, and accepted drafts, shown in a prompt."""
MAX_SELECTION = 8_000
"""Characters that a model edits at once."""
MAX_DOCUMENTS = 5
MAX_DOCUMENT_BYTES = 5 * 1024 * 1024
MAX_PDF_PAGES = 100
MAX_DOCUMENT_CHARACTERS = 200_000
"""Of all documents together."""
PASSAGE_CHARACTERS = 1500
"""Characters of a passage, about."""
PDF_TIMEOUT_S = 10

# Files and requests ------------------------------------------------------------------------------

MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_FEEDBACK_ROWS = 5000
"""Rows of feedback in a file."""
MAX_FEEDBACK_COLUMNS = 100
MAX_FEEDBACK_AT_ONCE = 500
"""Rows of feedback in a request."""
MAX_MESSAGES = 500
"""Messages of a conversation in feedback."""
MAX_BULK_ROWS = 5000
"""Tests in a request that changes many."""

# Rubrics and judge templates ---------------------------------------------------------------------

MAX_CRITERIA = 300
"""Criteria of a rubric."""
MAX_LIBRARY_CRITERIA = 1_000
"""Criteria in a file for the library."""
MAX_LIBRARY_CHARACTERS = 5_000_000
CHECK_TIMEOUT_S = 1.0
MAX_TEMPLATE_CHARACTERS = 20_000
MAX_PROMPT_CHARACTERS = 400_000
"""Characters of a judge's prompt, with the test and the answer."""
MAX_TEMPLATE_EXAMPLES = 200
MAX_EXAMPLE_CHARACTERS = 40_000
"""Characters of all texts of an example together."""
MAX_PROMPT_VARIANTS = 50
"""Models for which a template has a prompt of its own."""

# Pages -------------------------------------------------------------------------------------------

BOARD_CARDS = 50
"""Cards shown in a column; the list has all issues."""
MAX_MERGED_ISSUES = 6
MAX_LINKED_ROWS = 500
"""Tests, and rows of feedback, linked to an issue at once."""
SIMILAR_ISSUES = 5
"""Similar issues, and feedback, beside that which is triaged."""
PREVIEW_ROWS = 20
"""Rows of a file shown before its import."""
LISTED_TESTS = 50
"""Tests that a page names which asks about many."""
MAX_TAGS = 2000
"""Tags, the most used, that forms offer and suggestions come from."""
