"""Text of the pages of a PDF, read in a process of its own.

The pages of a small PDF can take hours and all memory to read, so that the process has limits, and
none of the environment's secrets. As a script this reads a PDF and writes a JSON list of pages.
"""

import json
import subprocess
import sys
from contextlib import suppress
from io import BytesIO

MAX_SECONDS = 10
MAX_MEMORY = 1024**3
"""Bytes."""
WAIT_S = 3 * MAX_SECONDS
"""Until the process is ended however little it was given to do."""


class UnreadablePdf(ValueError):
    """Why a PDF has no text for us, as the end of a sentence that begins with its name."""


def page_texts(data: bytes, *, most_pages: int, most_characters: int) -> list[str]:
    """Return the text of each page; of a longer PDF the first pages with too many characters.

    Raises:
        UnreadablePdf: It is no PDF, has too many pages, or takes too long.
    """
    limits = [str(limit) for limit in (most_pages, most_characters, MAX_SECONDS, MAX_MEMORY)]
    command = [sys.executable, "-I", __file__, *limits]
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=WAIT_S, env={}, check=False
        )
        found = json.loads(done.stdout) if done.returncode == 0 else None
    except subprocess.TimeoutExpired:
        found = None
    if found is None:
        raise UnreadablePdf(f"takes more than {MAX_SECONDS} s to read. Upload its text.")
    if isinstance(found, str):
        raise UnreadablePdf(found)
    return list(found)


def _limit(seconds: int, memory: int) -> None:
    with suppress(ImportError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _read(data: bytes, most_pages: int, most_characters: int) -> list[str] | str:
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
        return "takes too much memory to read. Upload its text."
    except Exception as error:  # pypdf raises whatever a broken file leads to
        return f"is no PDF that can be read: {str(error)[:200] or type(error).__name__}."


if __name__ == "__main__":
    pages, characters, cpu_seconds, memory_bytes = map(int, sys.argv[1:])
    _limit(cpu_seconds, memory_bytes)
    sys.stdout.write(json.dumps(_read(sys.stdin.buffer.read(), pages, characters)))
