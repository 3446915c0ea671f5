"""Passages of uploaded documents: text, Markdown and PDF. Nothing in them is executed. Pure."""

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import NamedTuple, Protocol

from evalhub.values.storable import storable
from evalhub.work.processes.limited_process import LimitReached, call_limited
from issues.limits import (
    MAX_DOCUMENT_BYTES,
    MAX_DOCUMENT_CHARACTERS,
    MAX_DOCUMENTS,
    MAX_PDF_PAGES,
    PASSAGE_CHARACTERS,
    PDF_TIMEOUT_S,
)


class UnreadablePdf(ValueError):
    """Why a PDF has no text for us, as the end of a sentence that begins with its name."""


def page_texts(data: bytes, *, most_pages: int, most_characters: int) -> list[str]:
    """Return the text of each page; of a longer PDF the first pages with too many characters.

    In a process with limits: a small PDF can take hours and all memory to read.

    Raises:
        UnreadablePdf: It is no PDF, has too many pages, or takes too long or too much memory.
    """
    limits = (most_pages, most_characters)
    try:
        found = call_limited("issues.drafting.documents:read", data, *limits, seconds=PDF_TIMEOUT_S)
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


ENDINGS = (".txt", ".md", ".pdf")


class Upload(Protocol):
    """A file as Django receives it."""

    name: str | None
    size: int | None

    def read(self) -> bytes: ...


class Passage(NamedTuple):
    """A passage with its source; `page` counts from 1, 0 in a file without pages."""

    document: str
    page: int
    text: str

    @property
    def source(self) -> str:
        return f"{self.document}, page {self.page}" if self.page else self.document


class UnreadableDocument(ValueError):
    """Why a document cannot be used."""


def passages_of(files: Sequence[Upload]) -> list[Passage]:
    """Return the passages of all files, in order.

    Raises:
        UnreadableDocument: A file is too large or long, of another kind, or has no text.
    """
    if len(files) > MAX_DOCUMENTS:
        raise UnreadableDocument(
            f"{len(files)} files are too many: choose at most {MAX_DOCUMENTS}."
        )
    passages = [passage for file in files for passage in _passages(file)]
    if sum(len(passage.text) for passage in passages) > MAX_DOCUMENT_CHARACTERS:
        raise UnreadableDocument(
            f"The documents have more than {MAX_DOCUMENT_CHARACTERS:,} characters together. Upload "
            "the chapters that matter."
        )
    return passages


def _passages(file: Upload) -> Iterator[Passage]:
    name = (file.name or "document")[-100:]
    if not name.lower().endswith(ENDINGS):
        raise UnreadableDocument(f"{name} is no {', '.join(ENDINGS)} file.")
    if (file.size or 0) > MAX_DOCUMENT_BYTES:
        raise UnreadableDocument(f"{name} is larger than {MAX_DOCUMENT_BYTES // 1024**2} MB.")
    data = file.read()
    pages = _pdf_pages(name, data) if name.lower().endswith(".pdf") else [_decoded(name, data)]
    has_pages = name.lower().endswith(".pdf")
    found = [
        Passage(name, number if has_pages else 0, text)
        for number, page in enumerate(pages, 1)
        for text in split(page)
    ]
    if not found:
        raise UnreadableDocument(f"{name} has no text. Scanned pages are pictures: upload text.")
    yield from found


def _decoded(name: str, data: bytes) -> str:
    try:
        return storable(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableDocument(f"{name} is not UTF-8 text: {error.reason}.") from error


def _pdf_pages(name: str, data: bytes) -> list[str]:
    try:
        found = page_texts(data, most_pages=MAX_PDF_PAGES, most_characters=MAX_DOCUMENT_CHARACTERS)
    except UnreadablePdf as error:
        raise UnreadableDocument(f"{name} {error}") from error
    return [storable(text) for text in found]


def split(text: str) -> list[str]:
    """Return the passages of a text: whole paragraphs, and sentences of long ones."""
    passages: list[str] = []
    for piece in _pieces(text):
        if passages and len(passages[-1]) + len(piece) < PASSAGE_CHARACTERS:
            passages[-1] += f"\n\n{piece}"
        else:
            passages.append(piece)
    return passages


def _pieces(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        rest = paragraph.strip()
        while len(rest) > PASSAGE_CHARACTERS:
            end = (
                max(rest.rfind(sign, 0, PASSAGE_CHARACTERS) for sign in (". ", "\n", " ")) + 1
                or PASSAGE_CHARACTERS
            )
            yield rest[:end].strip()
            rest = rest[end:].strip()
        if rest:
            yield rest
