"""The look of the admin, and what its command palette searches: settings of Unfold."""

from django.templatetags.static import static

SEARCHED = [
    *("issues.Issue", "issues.Test", "issues.Feedback", "issues.Tag", "issues.JudgeTemplate"),
    "issues.LibraryCriterion",
    *("runs.Run", "runs.Result", "runs.Suite", "review.Queue", "runs.Launch", "runs.Jury"),
    *("evalhub.LanguageModel", "evalhub.User"),
]
"""Models that the command palette searches, in the order of its groups."""

UNFOLD = {
    "SITE_TITLE": "EvalHub",
    "SITE_HEADER": "EvalHub",
    "SITE_SUBHEADER": "What models get wrong",
    "SITE_URL": None,
    "SITE_ICON": lambda request: static("evalhub/logo.svg"),
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda _: static("evalhub/logo.svg")}
    ],
    "SHOW_HISTORY": True,
    "SHOW_BACK_BUTTON": True,
    "ENVIRONMENT": "reports.sidebar.environment",
    "DASHBOARD_CALLBACK": "reports.dashboard.views.dashboard",
    "STYLES": [
        lambda request: static("evalhub/colours.css"),
        lambda request: static("evalhub/evalhub.css"),
    ],
    "SCRIPTS": [
        lambda request: static("evalhub/evalhub.js"),
        lambda request: static("evalhub/editor_shared.js"),
    ],
    "BORDER_RADIUS": "6px",
    "COLORS": {
        "primary": {
            "50": "oklch(97% .014 254.604)",
            "100": "oklch(93.2% .032 255.585)",
            "200": "oklch(88.2% .059 254.128)",
            "300": "oklch(80.9% .105 251.813)",
            "400": "oklch(70.7% .165 254.624)",
            "500": "oklch(62.3% .214 259.815)",
            "600": "oklch(54.6% .245 262.881)",
            "700": "oklch(48.8% .243 264.376)",
            "800": "oklch(42.4% .199 265.638)",
            "900": "oklch(37.9% .146 265.522)",
            "950": "oklch(28.2% .091 267.935)",
        }
    },
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "show_all_applications": False,
        "navigation": "reports.sidebar.sidebar",
    },
}
