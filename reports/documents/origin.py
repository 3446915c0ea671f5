"""The origin of a file: its site, page, models, runs, filters and date."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import slugify

from evalhub.display.formatting import few
from reports.documents.document import Cell, Document, Link, Linked
from reports.documents.reading import ReportForm
from runs.models import Run

MAX_NAMED = 12
"""Runs that a file names; it counts the rest."""

MAX_NAME = 80
"""Characters of a title in the names of files."""

RUN_PATH = re.compile(r"/reports/runs/(\d+)/")

COLUMNS = ("report_models", "report_runs", "report_url", "report_made_at")
"""Columns that end each line of a CSV file."""


@dataclass(frozen=True)
class Origin:
    """Site, page and runs that a file comes from.

    `url` is the full address of the page; `run_ids` are those of its figures, in their order, and
    `is_of_runs` tells that these are its subject; `filters` are those set on the page, in words.
    """

    url: str
    run_ids: tuple[int, ...] = ()
    filters: tuple[str, ...] = ()
    is_of_runs: bool = True
    made_at: datetime = field(default_factory=timezone.now)

    @property
    def site(self) -> str:
        """Return the address of the site; "" if it is not known."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""

    @cached_property
    def rows(self) -> list[Run]:
        found = Run.objects.only("label", "model_name").in_bulk(self.run_ids)
        return [found[pk] for pk in self.run_ids if pk in found]

    @property
    def models(self) -> list[str]:
        return list(dict.fromkeys(run.model_name for run in self.rows))

    @property
    def runs(self) -> list[str]:
        return [f"{run.label} ({run.model_name}, run {run.pk})" for run in self.rows]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Return what a reader wants to know of a file, as names and values."""
        found = {
            "Site": f"EvalHub, {self.site}" if self.site else "EvalHub",
            "Model" if len(self.models) == 1 else "Models": few(self.models, most=MAX_NAMED),
            "Run" if len(self.runs) == 1 else "Runs": few(self.runs, most=MAX_NAMED),
            "Filters": "; ".join(self.filters),
            "Made": date_format(timezone.localtime(self.made_at), "j M Y, H:i T"),
        }
        return [(name, value) for name, value in found.items() if value]

    @property
    def as_json(self) -> dict[str, object]:
        return {
            "site": self.site,
            "url": self.url,
            "made_at": self.made_at,
            "models": self.models,
            "runs": [
                {"id": run.pk, "label": run.label, "model": run.model_name} for run in self.rows
            ],
            "filters": list(self.filters),
        }

    @cached_property
    def cells(self) -> tuple[str, ...]:
        """Return the values of `COLUMNS`."""
        made = timezone.localtime(self.made_at).isoformat(timespec="seconds")
        return few(self.models, most=MAX_NAMED), few(self.runs, most=MAX_NAMED), self.url, made

    def file_name(self, key: str, title: str) -> str:
        """Return a file's name without date and ending: one or two runs are named by number."""
        if not (self.is_of_runs and 1 <= len(self.rows) <= 2):
            name = file_slug(title)
            return name if name.startswith(key.removesuffix("s")) else f"{key}-{name}"
        runs = "-to-".join(f"run-{run.pk}" for run in self.rows)
        label = self.rows[0].label if len(self.rows) == 1 else ""
        about = file_slug(" ".join([*self.models, label]))
        return "-".join(filter(None, ["" if key == "run" else key, runs, about]))


def file_slug(text: str) -> str:
    """Return a text for the name of a file; dots within words stay, as in 1.4."""
    parts = re.split(r"(?<=\w)\.(?=\w)", text)
    return ".".join(slugify(part) for part in parts)[:MAX_NAME].strip("-.")


def origin_of(
    request: HttpRequest, document: Document, path: str, form: ReportForm | None = None
) -> Origin:
    """Return the origin of a document made for this request.

    Args:
        path: Of the page, to link back.
        form: The page's filters; None without any.
    """
    url = absolute(request, path)
    runs = document.runs or tuple(linked_runs(document))
    return Origin(url, runs, tuple(_filters(form)), is_of_runs=bool(document.runs))


def absolute(request: HttpRequest, path: str) -> str:
    """Return the full address of a page of this site, under its public name if it has one."""
    site = settings.EVALHUB_SITE_URL.rstrip("/")
    return f"{site}{path}" if site else request.build_absolute_uri(path)


def linked_runs(document: Document) -> list[int]:
    """Return the IDs of the runs that the figures of a document link to, once each."""
    urls = [fact.url for fact in document.facts]
    for table in document.tables:
        urls += [url for row in table.rows for url in _urls(row)]
    return list(dict.fromkeys(int(found[1]) for found in map(RUN_PATH.search, urls) if found))


def _urls(cells: Iterable[Cell]) -> Iterator[str]:
    for value in cells:
        if isinstance(value, Link | Linked):
            yield value.url
        elif isinstance(value, tuple) and not hasattr(value, "_fields"):
            yield from _urls(value)


def _filters(form: ReportForm | None) -> Iterator[str]:
    """Say which filters are set."""
    for chip in form.chips if form else ():
        if form and chip.cleared:
            value = form.filters[chip.name]
            names = dict(getattr(form.fields[chip.name], "choices", None) or ())
            said = chip.values or [str(names.get(value, value))]
            yield f"{chip.title}: {', '.join(said)}"
