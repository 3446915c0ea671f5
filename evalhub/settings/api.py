"""The API and its schema: settings of REST framework and drf-spectacular."""

from typing import Any

from evalhub.limits import (
    ANONYMOUS_CALLS_PER_MINUTE,
    API_PAGE_SIZE,
    EXPENSIVE_PER_MINUTE,
    TOKEN_CALLS_PER_MINUTE,
    USER_CALLS_PER_MINUTE,
)

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "evalhub.access.tokens.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["evalhub.access.permissions.ModelPermissions"],
    "DEFAULT_FILTER_BACKENDS": [
        "evalhub.api.filters.NamedFilters",
        "evalhub.api.filters.NamedOrdering",
    ],
    "DEFAULT_PAGINATION_CLASS": "evalhub.api.filters.Pagination",
    "PAGE_SIZE": API_PAGE_SIZE,
    "DEFAULT_SCHEMA_CLASS": "evalhub.api.documented_operations.Operation",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["evalhub.api.parsers.StorableJSONParser"],
    "EXCEPTION_HANDLER": "evalhub.api.errors.explain",
    "NON_FIELD_ERRORS_KEY": "problems",
    "DEFAULT_THROTTLE_CLASSES": [
        "evalhub.access.request_limits.AnonymousLimit",
        "evalhub.access.request_limits.UserLimit",
        "evalhub.access.request_limits.TokenLimit",
        "evalhub.access.request_limits.LongPageLimit",
    ],
    "DEFAULT_THROTTLE_RATES": {
        "anon": f"{ANONYMOUS_CALLS_PER_MINUTE}/min",
        "user": f"{USER_CALLS_PER_MINUTE}/min",
        "token": f"{TOKEN_CALLS_PER_MINUTE}/min",
        "expensive": f"{EXPENSIVE_PER_MINUTE}/min",
    },
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "EvalHub",
    "DESCRIPTION": """Track what language models get wrong.

Send `Authorization: Bearer <token>`. Create tokens in the admin, read-only or with write access; a
token has its user's rights. Filter and order lists by the parameters listed here (others are
errors) and follow `next` for more rows. Errors have a `code` and list all `problems` by field.
Rows have an `ETag`: send it back as `If-Match` so that nobody's change is overwritten. Any POST
takes an `Idempotency-Key`. `null` means not measured, never 0. Nothing is deleted. Text of sealed
tests requires the right to read it.""",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "OAS_VERSION": "3.1.0",
    "WEBHOOKS": ["evalhub.api.documented_operations.EVENT"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "evalhub.api.documented_operations.with_plain_nulls",
        "evalhub.api.documented_operations.with_names_as_titles",
        "evalhub.api.documented_operations.with_named_enums",
    ],
    "GET_LIB_DOC_EXCLUDES": "evalhub.api.documented_operations.undocumented_bases",
    "ENUM_NAME_OVERRIDES": {
        "FeedbackState": "issues.models.FeedbackState",
        "IssueState": "issues.models.IssueState",
        "TestState": "issues.models.TestState",
        "TemplateState": "issues.models.TemplateState",
        "BatchState": "evalhub.models.BatchState",
        "BulkRowOutcome": "issues.api.bulk.OUTCOMES",
        "BenchmarkState": "runs.laboratory.trials.models.BenchmarkState",
        "TopicKind": "runs.laboratory.trials.models.TopicKind",
        "ModelKind": "evalhub.llm.applications.application_fields.ModelKind",
        "NotificationKind": "evalhub.models.NotificationKind",
        "ItemState": "evalhub.models.ItemState",
        "JudgmentState": "runs.models.JudgmentState",
        "Handling": "runs.answering.endings.Handling",
        "Outcome": "runs.models.Outcome",
        "QueueState": "runs.review.models.QueueState",
        "AssignmentState": "runs.review.models.AssignmentState",
    },
}
