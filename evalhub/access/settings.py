"""Rules of passwords, logins and pages that do not depend on where the site runs."""

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
] + [{"NAME": "evalhub.access.tokens.RevokeTokens"}]

AXES_VERBOSE = False
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 0.25
AXES_HANDLER = "evalhub.access.logins.LoginHandler"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"], "username", "ip_address"]
AXES_RESET_ON_SUCCESS = True
AXES_ENABLE_ACCESS_FAILURE_LOG = True
AXES_ACCESS_FAILURE_LOG_PER_USER_LIMIT = 10**9
AXES_LOCKOUT_TEMPLATE = "429.html"
AXES_CLIENT_IP_CALLABLE = "evalhub.access.addresses.client_network"

OIDC_RP_SIGN_ALGO = "RS256"
OIDC_USE_PKCE = True
OIDC_TIMEOUT = 10

SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
