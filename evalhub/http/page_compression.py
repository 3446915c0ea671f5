from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class CompressPages(GZipMiddleware):
    """Compresses pages of HTML.

    An attacker cannot learn a secret from their sizes (BREACH): Django's middleware adds random
    bytes, and masks the CSRF token anew in each response. The API stays as it is: compressed, its
    ETags would be weak, and `If-Match` needs strong ones.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            return response
        return super().process_response(request, response)
