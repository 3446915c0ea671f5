"""Files that a page shows a preview of before it takes them, and that the preview sends back."""

from base64 import b64decode, b64encode

from django.http import HttpRequest

from evalhub.admin_site.pages import bounded_text
from issues.limits import MAX_FILE_BYTES


def packed(data: bytes) -> str:
    """Return a file for a hidden field, where a browser would change line ends in plain text."""
    return b64encode(data).decode()


def sent_file(request: HttpRequest, *, most: int = MAX_FILE_BYTES) -> tuple[str, bytes]:
    """Return name and content of the file, as uploaded or packed; "" if there is none.

    Of one of more than `most` bytes, a byte too many is returned.
    """
    file = request.FILES.get("file")
    if file is not None and not isinstance(file, list):
        is_too_long = (file.size or 0) > most
        return str(file.name), b" " * (most + 1) if is_too_long else file.read()
    try:
        return bounded_text(request.POST.get("name"), 200), b64decode(request.POST.get("data", ""))
    except ValueError:  # it is no base64
        return "", b""
