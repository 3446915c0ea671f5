"""The Content-Security-Policy of all pages."""

from csp.constants import NONCE, SELF, UNSAFE_EVAL, UNSAFE_INLINE

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        # The admin theme's Alpine evaluates expressions; inline scripts stay refused.
        "script-src": [SELF, NONCE, UNSAFE_EVAL],
        # Plotly and the admin theme set style attributes.
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF, "data:"],
        "connect-src": [SELF],
        "frame-ancestors": ["'none'"],
        "form-action": [SELF],
        "base-uri": [SELF],
        "object-src": ["'none'"],
    }
}
