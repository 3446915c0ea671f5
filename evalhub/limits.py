"""How much, how many and how long: logins, requests, pages, calls of models, notifications.

What a site sets for itself is an environment variable, in `evalhub/settings/`. The apps above have
a module of this name each.
"""

from datetime import timedelta

# Logins and tokens -------------------------------------------------------------------------------

LOGIN_FAILURES = (5, 100, 50)
"""Failures within the cool-off time: by name and network, by name, by network."""
LOGIN_COOL_OFF_S = 900
MAX_LOCKOUT_NOTICES = 10
"""Lock-outs notified within the cool-off time, so that an attack fills no inbox."""
PASSWORD_FRESH_S = 30 * 60
"""Seconds for which an entered password counts."""
OIDC_TIMEOUT_S = 10
TOKEN_LIFETIME = timedelta(days=90)
MIN_REVEAL_REASON = 10
"""Characters of a reason that still helps a year later."""

# Requests ----------------------------------------------------------------------------------------

PAGES_PER_MINUTE = 600
"""Pages for one user, or for one network without login."""
EXPENSIVE_PER_MINUTE = 120
"""Downloads, slow figures and similarity searches, as pages and in the API."""
ANONYMOUS_CALLS_PER_MINUTE = 60
USER_CALLS_PER_MINUTE = 2400
TOKEN_CALLS_PER_MINUTE = 1200
INVALID_TOKENS_PER_MINUTE = 30
"""Failed tokens from one network."""
IDEMPOTENCY_LIFETIME = timedelta(days=1)
MAX_JSON = 500_000
"""Characters of a JSON value of a row, without whitespace."""
MAX_TEXT = 200_000
"""Characters of a text: ten times the longest answer of a model."""

# Pages -------------------------------------------------------------------------------------------

LIST_PAGE_SIZE = 25
MAX_LIST_ROWS = 10_000
"""Rows of a list that can be paged through; filters and search find the others."""
TAB_PAGE_SIZE = 20
"""Rows of a table in a tab."""
HISTORY_PAGE_SIZE = 50
API_PAGE_SIZE = 100
MAX_API_PAGE_SIZE = 1000
PALETTE_ROWS = 6
"""Rows of each model that the command palette finds."""
MAX_HIDDEN_COLUMNS = 50
MAX_SAVED_FILTERS = 50
"""Saved filters per user and list."""

# Calls of models ---------------------------------------------------------------------------------

DEFAULT_CONCURRENCY = 8
"""Calls of a model in flight at once, until somebody enters another number."""
DEFAULT_TIMEOUT_S = 120
MAX_TIMEOUT_S = 600
JUDGE_TIMEOUT_S = 45
"""Upper bound of a judge's time-out without one of its own."""
CONNECTION_CHECK_TIMEOUT_S = 30.0
CONNECT_TIMEOUT_S = 15.0
CALL_ATTEMPTS = 5
LONGEST_PAUSE_S = 30.0
"""Pause in which an item stays claimed; for a longer one it is given back."""
LONGEST_WAIT_S = 900.0
"""Retry-After that is followed; a longer one makes the error final."""
MAX_REPLY_BYTES = 20_000_000
MAX_IMAGES = 20
"""Images of one message."""
DEFAULT_ANSWER_TOKENS = 1000
"""Estimate for a reply without a token limit, and the limit of one to a raw prompt."""

# Notifications -----------------------------------------------------------------------------------

DELIVERY_PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240, 720, 1440))
"""Waits after each failed attempt; after the last, a delivery gets one more attempt."""
DELIVERY_TIMEOUT_S = 10.0

# Cache -------------------------------------------------------------------------------------------

COMPUTED_CACHE_S = 30 * 24 * 3600
MAX_CACHE_ROWS = 20_000
