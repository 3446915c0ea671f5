from typing import Any

CACHES: dict[str, Any] = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # Computed report content and counts of requests, shared by all processes.
    "computed": {
        "BACKEND": "evalhub.values.database_cache.JSONCache",
    },
}
