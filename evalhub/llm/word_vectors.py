"""The built-in embedding: the mean of a text's word vectors, made here without a key. Pure.

It knows which words are similar, but not their order: "the dog bites the man" equals "the man
bites the dog", and a number resembles any other number. The word vectors come from a package that
ships them; its code and its dependencies are not used.
"""

import json
import mmap
import struct
from array import array
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from hashlib import sha256
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

PACKAGE = "wordllama"
"""MIT-licensed: the token embeddings of a language model, trained further for similarity."""

WEIGHTS = "l2_supercat_256.safetensors"
TOKENIZER = "l2_supercat_tokenizer_config.json"
NAME = "word vectors (built in)"
KEPT = 2000
"""Vectors kept in memory, of 1 kB each."""


class NoWordVectors(Exception):
    """The built-in embedding is not installed; the message says how to."""


class WordVectors:
    """The table of word vectors, read from the file on demand.

    Raises:
        NoWordVectors: The package is missing, or its files are not the known ones.
    """

    def __init__(self) -> None:
        try:
            package = distribution(PACKAGE)
        except PackageNotFoundError as error:
            raise NoWordVectors(
                "The built-in embedding is not installed: `pip install --no-deps "
                f"{PACKAGE}`, or choose an embedding model."
            ) from error
        self.version = package.version
        self._tokenizer = _tokenizer(_path(package, TOKENIZER))
        with _path(package, WEIGHTS).open("rb") as file:
            self._table = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._start, self._rows, self.dimensions = _layout(self._table)
        self._row = struct.Struct(f"<{self.dimensions}e")

    def embed(self, text: str) -> "array[float]":
        """Return the mean vector, shape (dimensions,); zeros for a text without words."""
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        total = [0.0] * self.dimensions
        for row, times in Counter(ids).items():
            offset = self._start + min(row, self._rows - 1) * self._row.size
            vector = self._row.unpack_from(self._table, offset)
            total = [sum_ + times * number for sum_, number in zip(total, vector, strict=True)]
        return array("f", [sum_ / max(1, len(ids)) for sum_ in total])

    def matrix(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return the mean vectors of texts, shape (len(texts), dimensions); 20,000 per second."""
        import numpy as np  # seldom needed, so not imported with this module

        shape = (self._rows, self.dimensions)
        size = self._rows * self.dimensions
        table = np.frombuffer(self._table, "<f2", size, self._start).reshape(shape)
        means = np.zeros((len(texts), self.dimensions), np.float32)
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        for row, encoding in enumerate(encoded):
            if encoding.ids:
                ids = np.minimum(encoding.ids, self._rows - 1)
                means[row] = table[ids].mean(axis=0, dtype=np.float32)
        return means


@cache
def load() -> WordVectors:
    return WordVectors()


def embed(text: str) -> "array[float]":
    """Return the vector of a text, shape (256,); takes milliseconds for a page.

    Raises:
        NoWordVectors: See `WordVectors`.
    """
    kept = _kept(sha256(text.encode("utf-8", "surrogatepass")).digest())
    if not kept:
        kept.append(load().embed(text))
    return kept[0]


@lru_cache(maxsize=KEPT)
def _kept(digest: bytes) -> "list[array[float]]":
    """Return the cached vector by digest, because texts themselves would fill the memory."""
    return []


def problem() -> str:
    """Return why the built-in embedding cannot be used; "" if it can."""
    try:
        load()
    except NoWordVectors as error:
        return str(error)
    return ""


def _path(package: Distribution, name: str) -> Path:
    for file in package.files or []:
        if file.name == name:
            return Path(str(file.locate()))
    raise NoWordVectors(
        f"{PACKAGE} {package.version} has no file {name}: install another version, "
        "or choose an embedding model."
    )


def _tokenizer(path: Path) -> "Tokenizer":
    from tokenizers import Tokenizer  # seldom needed, so not imported with this module

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _layout(table: mmap.mmap) -> tuple[int, int, int]:
    """Return the offset of the numbers, the number of rows, and their length."""
    (size,) = struct.unpack_from("<Q", table)
    header: dict[str, Any] = json.loads(table[8 : 8 + size])
    tensor = header["embedding.weight"]
    if tensor["dtype"] != "F16":
        raise NoWordVectors(f"{WEIGHTS} holds {tensor['dtype']} numbers, expected F16.")
    rows, dimensions = tensor["shape"]
    return 8 + size + tensor["data_offsets"][0], rows, dimensions
