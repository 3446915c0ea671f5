"""Static file finder for plotly.js of the installed plotly package."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

FILE = "plotly.min.js"
PREFIX = "plotly"


class PlotlyFinder(BaseFinder):
    """Finder of `plotly/plotly.min.js` only."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        spec = find_spec("plotly")
        assert spec is not None
        assert spec.origin is not None
        self.folder = Path(spec.origin).parent / "package_data"
        self.storage = FileSystemStorage(location=self.folder)
        self.storage.prefix = PREFIX  # type: ignore[attr-defined]

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path != f"{PREFIX}/{FILE}":
            return []
        found = str(self.folder / FILE)
        return [found] if find_all else found

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        yield FILE, self.storage
