"""Parquet files, read and written by pyarrow, which is an extra. Pure."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

MISSING = "Parquet needs the package pyarrow: ask your admin for it, or use JSON lines or CSV."
MAX_UNPACKED = 64 * 1024 * 1024
"""Bytes of a file's columns: a small file may hold the same value a billion times."""
ROWS_AT_ONCE = 500
TEXT, WHOLE, REAL, FLAG, MOMENT, MONEY, JSON = (
    *("text", "whole", "real", "flag", "moment", "money", "json"),
)
"""Kinds of columns. JSON is written as text."""


class ParquetError(ValueError):
    """A file that cannot be read, or no pyarrow to read it with."""


def is_available() -> bool:
    try:
        _arrow()
    except ParquetError:
        return False
    return True


def rows_of(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file as JSON values: times and decimals are texts.

    Raises:
        ParquetError: It is no Parquet, or too large when unpacked.
    """
    arrow = _arrow()
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(io.BytesIO(data))
        footer = file.metadata
        size = sum(footer.row_group(n).total_byte_size for n in range(footer.num_row_groups))
        if size > MAX_UNPACKED:
            raise ParquetError(f"has {size:,} bytes unpacked; the maximum is {MAX_UNPACKED:,}.")
        for batch in file.iter_batches(ROWS_AT_ONCE):
            if batch.nbytes > MAX_UNPACKED:  # the footer may say less
                raise ParquetError(f"unpacks to more than {MAX_UNPACKED:,} bytes.")
            yield from json.loads(json.dumps(batch.to_pylist(), default=_as_json))
    except (arrow.ArrowException, OSError) as error:
        raise ParquetError(f"is not Parquet: {error}.") from error


def _as_json(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def parquet_of(
    columns: Mapping[str, str], portions: Iterable[Sequence[Sequence[Any]]]
) -> Iterator[bytes]:
    """Yield a file piece by piece, a row group for each portion of rows.

    Args:
        columns: The kind of each column by its name.
        portions: Rows of values in this order; JSON as text.
    """
    arrow = _arrow()
    from pyarrow import parquet

    schema = arrow.schema([(name, _type(arrow, kind)) for name, kind in columns.items()])
    written = _Written()
    with parquet.ParquetWriter(written, schema, compression="zstd") as writer:
        for rows in portions:
            turned = list(zip(*rows, strict=True)) or [()] * len(columns)
            arrays = [
                arrow.array(values, _type(arrow, kind))
                for values, kind in zip(turned, columns.values(), strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
            yield written.taken()
    yield written.taken()


class _Written(io.RawIOBase):
    """A file to write to, of which what is written can be taken."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._length += len(part)
        return len(part)

    def tell(self) -> int:
        return self._length

    def taken(self) -> bytes:
        found, self._parts = b"".join(self._parts), []
        return found


def _type(arrow: Any, kind: str) -> "pyarrow.DataType":
    types = {
        WHOLE: arrow.int64,
        REAL: arrow.float64,
        FLAG: arrow.bool_,
        MOMENT: lambda: arrow.timestamp("us", tz="UTC"),
        MONEY: lambda: arrow.decimal128(14, 8),
    }
    return types.get(kind, arrow.string)()


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ParquetError(MISSING) from error
    return pyarrow
