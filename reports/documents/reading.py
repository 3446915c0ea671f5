"""Report pages: the form of their filters, and the reader they are built for."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from django import forms
from django.http import QueryDict

from evalhub.display.filter_chip import Chip
from evalhub.display.input_form import InputForm
from evalhub.models import User
from evalhub.values.computed_cache import cached, computed
from reports.documents.document import Document
from runs.figures.run_tallies import versions_of

COMPUTE = "compute"
"""Parameter of a page's second request, which computes slow figures at once."""

T = TypeVar("T")


@dataclass
class Reading:
    """The reader of a report, and whether slow figures are computed now.

    A page responds at once with cached figures and requests the rest later; `pending` says, once
    the report is built, that there is a rest. Downloads, the API and commands compute.
    """

    reader: User
    computes: bool = True
    pending: bool = False

    def computed(
        self,
        name: str,
        inputs: Any,
        kind: type[T],
        function: Callable[[], T],
        *,
        of: Collection[int] = (),
    ) -> T | None:
        """Return what the function gives, cached for 30 days (`evalhub.values.computed_cache`).

        Not cached while a run of `of` has no version: its results changed and are not counted yet.

        Args:
            name: Of the function and its version.
            inputs: JSON, all that the outcome depends on; it is computed again for others.
            kind: The type of the outcome.
            of: Runs whose single results it reads; it is computed again when one has changed.

        Returns:
            None, with `pending` set, where it is left for later.
        """
        versions = versions_of(of) if of else []
        key = [inputs, versions] if of else inputs
        if self.computes:
            return function() if versions is None else computed(name, key, kind, function)
        value = None if versions is None else cached(name, key, kind)
        self.pending = self.pending or value is None
        return value


class ReportForm(InputForm):
    """The filters of a page, all in the query string.

    Every field has its default as `initial`, in the form that cleaning gives; a switch is off by
    default. What is wrong in the query is named in `problems`, and its default is taken.
    """

    def __init__(self, query: QueryDict) -> None:
        super().__init__(query)
        self.data = self._with_defaults(query)
        self.query = query
        for field in self.fields.values():
            field.required = False
            if not isinstance(field.widget, forms.CheckboxSelectMultiple):
                field.widget.attrs.setdefault("data-eh-submit", "")

    def _with_defaults(self, query: QueryDict) -> QueryDict:
        data = query.copy()
        for name, field in self.base_fields.items():
            default = self.get_initial_for_field(field, name)
            if name not in query and default is not None and default is not False:
                values = default if isinstance(default, list | tuple) else [default]
                data.setlist(name, [str(field.prepare_value(value)) for value in values])
        return data

    @property
    def chips(self) -> list[Chip]:
        return [self._chip(field) for field in self.visible_fields()]

    def _chip(self, field: forms.BoundField) -> Chip:
        asked = [value for value in self.query.getlist(field.name) if value]
        without = self.query.copy()
        without.pop(field.name, None)
        is_set = asked and asked != self._with_defaults(QueryDict()).getlist(field.name)
        widget = field.field.widget
        several = isinstance(widget, forms.CheckboxSelectMultiple)
        if isinstance(widget, forms.Select):
            # The widget walks them twice, and a list would ask for their number.
            widget.choices = list(iter(widget.choices))
        parts = list(field.subwidgets) if several else []
        return Chip(
            field.name,
            str(field.label),
            field=None if several else field,
            menu=parts,
            values=[str(part.choice_label) for part in parts if part.data["selected"]],
            cleared=f"?{without.urlencode()}" if is_set else "",
            help=str(field.help_text),
            is_wrong=bool(field.errors),
        )

    @cached_property
    def filters(self) -> dict[str, Any]:
        """Return the value of each field; its default where it is missing or invalid."""
        self.full_clean()
        return {name: self._value_of(name, field) for name, field in self.fields.items()}

    def _value_of(self, name: str, field: forms.Field) -> Any:
        """Return the value, its default, or the field's empty value."""
        found = self.cleaned_data.get(name)
        if found is not None and found != "":
            return found
        initial = self.get_initial_for_field(field, name)
        return field.clean(None) if initial is None else initial

    @property
    def wrong(self) -> dict[str, list[str]]:
        """Return the errors of each field, with the invalid value."""
        return {
            name: [
                f"{problem} Got {', '.join(self.query.getlist(name))!r}." for problem in problems
            ]
            if name in self.query
            else [str(problem) for problem in problems]
            for name, problems in self.errors.items()
        }

    @property
    def problems(self) -> list[str]:
        """Return the errors as sentences."""
        return [
            f"{self.fields[name].label or name.replace('_', ' ')}: {problem}"
            for name, problems in self.wrong.items()
            for problem in problems
        ]


@dataclass(frozen=True)
class Page:
    """A report page.

    Attributes:
        key: Its name in addresses and for programs.
        title: Its name for people; the title of its document says what these filters show.
        question: The question that it answers, as a manager would ask it.
        form: Its filters.
        build: Makes the report for these filters.
        summary: A sentence for the API documentation.
    """

    key: str
    title: str
    question: str
    summary: str
    form: type[ReportForm]
    build: Callable[[Mapping[str, Any], Reading], Document]
    template: str = "reports/documents/document.html"
