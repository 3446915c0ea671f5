from typing import Any

CACHES: dict[str, Any] = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # Computed report content and counts of requests, shared by all processes.
    "computed": {
        "BACKEND": "evalhub.values.kept_values.JSONCache",
        "OPTIONS": {"MAX_ENTRIES": 20_000},
    },
    # Rendered pages of reports, under the version of their data; each process has its own.
    "pages": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "pages",
        "OPTIONS": {"MAX_ENTRIES": 100},
    },
}
