"""Text of the pages of a PDF: those of a small one can take hours and all memory to read."""

from io import BytesIO

from evalhub.limited_process import LimitReached, call_limited
from issues.limits import PDF_TIMEOUT_S


class UnreadablePdf(ValueError):
    """Why a PDF has no text for us, as the end of a sentence that begins with its name."""


def page_texts(data: bytes, *, most_pages: int, most_characters: int) -> list[str]:
    """Return the text of each page; of a longer PDF the first pages with too many characters.

    Raises:
        UnreadablePdf: It is no PDF, has too many pages, or takes too long or too much memory.
    """
    limits = (most_pages, most_characters)
    try:
        found = call_limited("issues.drafting.pdf_text:read", data, *limits, seconds=PDF_TIMEOUT_S)
    except LimitReached as error:
        raise UnreadablePdf(f"cannot be read: it {error}. Upload its text.") from error
    if isinstance(found, str):
        raise UnreadablePdf(found)
    return list(found)


def read(data: bytes, most_pages: int, most_characters: int) -> list[str] | str:
    """Return the texts, or why there are none."""
    from pypdf import PdfReader

    try:
        reader = PdfReader(BytesIO(data))
        if (n := len(reader.pages)) > most_pages:
            return f"has {n} pages, more than {most_pages}."
        texts: list[str] = []
        for page in reader.pages:
            texts.append(page.extract_text() or "")
            if sum(map(len, texts)) > most_characters:
                break
        return texts
    except MemoryError:
        raise
    except Exception as error:  # pypdf raises whatever a broken file leads to
        return f"is no PDF that can be read: {str(error)[:200] or type(error).__name__}."
