"""The rows of fieldsets and of tables in forms, as the theme's templates have them.

Its templates include up to nine others for each field, which was most of the time of a form's page.
"""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db.models import FileField, JSONField
from django.forms.formsets import (
    INITIAL_FORM_COUNT,
    MAX_NUM_FORM_COUNT,
    MIN_NUM_FORM_COUNT,
    TOTAL_FORM_COUNT,
)
from django.template.loader import render_to_string
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from unfold.templatetags.unfold import changeform_condition
from unfold.widgets import CHECKBOX_LABEL_CLASSES, LABEL_CLASSES

LINE = (
    "field-line flex flex-col grow group group/line px-3 py-2.5 border-b border-base-200"
    " border-dashed min-h-[59px] group-[.last]/row:border-b-0 lg:border-l lg:flex-row"
    " lg:items-center dark:border-base-800 lg:first:border-l-0"
)
LABEL = (
    "lg:min-w-56 lg:w-56 lg:h-[38px] lg:flex lg:items-center lg:self-start lg:leading-[38px]"
    " lg:*:m-0"
)
CHECKBOX_LABEL = "font-medium flex items-start -ml-2 min-w-32 w-32 lg:min-w-56 lg:w-56"
ERRORS = "mt-2 text-red-600 text-xs dark:text-red-500"
REQUIRED = '<span class="text-red-600 dark:text-red-500">*</span>'
LABEL_CSS, CHECKBOX_LABEL_CSS = " ".join(LABEL_CLASSES), " ".join(CHECKBOX_LABEL_CLASSES)
ENDS = tuple(":?.!")
"""Signs of a label that no further one follows."""
CELL = (
    "min-h-[62.5px] align-middle border-b max-md:border-b border-base-200"
    " lg:group-[.last]/parent:border-b-0 dark:border-base-800 group field-tabular flex"
    " items-center before:capitalize before:font-semibold before:content-[attr(data-label)]"
    " before:text-font-important-light dark:before:text-font-important-dark before:mr-auto"
    " before:font-text before:pr-4 lg:before:hidden font-normal px-3 lg:first:pl-3 lg:last:pr-3"
    " lg:px-1.5 text-left lg:table-cell"
)
TITLE = (
    "border-b border-base-200 dark:border-base-800 bg-base-50 dark:bg-white/[.02]"
    " lg:bg-transparent lg:border-0 dark:lg:bg-transparent!"
)
NAME = "group/title flex font-medium items-center px-3 text-xs py-2 lg:pb-0 lg:pt-2"
ROW = "form-row has-[.delete:checked]:[&+.form-delete]:table-row"
TEMPLATES = "unfold/helpers/edit_inline"


def lines_of(fieldset: Iterable[Any], conditions: Mapping[str, str]) -> SafeString:
    """Return the lines of a fieldset.

    Args:
        conditions: When fields are shown, as Alpine's expressions by the names of fields.
    """
    lines = list(fieldset)
    return mark_safe("".join(_line(line, conditions, line is lines[-1]) for line in lines))


def _line(line: Any, conditions: Mapping[str, str], is_last: bool) -> str:
    css = "form-row field-row group/row"
    if len(line.fields) > 1:
        css += f" grid lg:grid-cols-{len(line.fields)}"
    css += ("" if line.has_visible_field else " hidden") + (" last" if is_last else "")
    cells = "".join(_field(field, conditions) for field in line)
    return f'<div class="{css}">{cells}</div>'


def _field(field: Any, conditions: Mapping[str, str]) -> str:
    if conditions:
        field = changeform_condition(field)
    name = _named(field, "name")
    errors = "" if field.is_readonly or not field.field.errors else field.errors()
    condition = conditions.get(name)
    css = LINE if field.is_readonly else f"{LINE} field-{name}"
    css += " errors" if errors else ""
    shown = f' x-show="{escape(condition)}"' if condition else ""
    errors = f'<div class="{ERRORS}">{errors}</div>' if errors else ""
    value = read_only_value(field) if field.is_readonly else str(field.field)
    return f'<div class="{css}"{shown}>{_labelled(field, value, errors)}</div>'


def _labelled(field: Any, value: str, errors: str) -> str:
    label, help_text = _label(field), _named(field, "help_text")
    told = f'<div class="leading-relaxed mt-2 text-xs">{help_text}</div>' if help_text else ""
    if not field.is_checkbox:
        label = f'<div class="{LABEL}">{label}</div>'
        return f'{label}<div class="grow relative">{value}{told}{errors}</div>'
    told = f'<div class="lg:-mt-2 lg:ml-2">{told}</div>' if told else ""
    return (
        f'<div class="flex flex-col gap-2 py-2 lg:flex-row"><div class="{CHECKBOX_LABEL}">{label}'
        '</div><div class="grow"><div class="flex flex-col lg:flex-row">'
        f"{value}{told}</div>{errors}</div></div>"
    )


def _label(field: Any) -> str:
    if field.is_readonly:
        name = conditional_escape(capfirst(field.field["label"]))
        return f'<label class="{LABEL_CSS} mb-2">{name}</label>'
    bound = field.field
    label: str = conditional_escape(bound.label)
    css = CHECKBOX_LABEL_CSS if field.is_checkbox else LABEL_CSS
    if bound.field.required:
        css += " required"
        label += "" if label.endswith(ENDS) else REQUIRED
    key = f' for="{escape(bound.id_for_label)}"' if bound.id_for_label else ""
    return f'<label class="{css}"{key}>{label}</label>'


def read_only_value(field: Any) -> str:
    width, contents = "max-w-2xl", field.contents
    try:
        column = field.form._meta.model._meta.get_field(_named(field, "name"))
    except FieldDoesNotExist:
        column = None
    if isinstance(column, JSONField):
        width = "max-w-4xl"
    elif isinstance(column, FileField):
        contents = render_to_string(
            "unfold/helpers/field_readonly_value_file.html", {"field": field}
        )
    text = "-" if not contents or contents == "None" else conditional_escape(contents)
    return f'<div class="readonly break-words {width} *:rounded-default">{text}</div>'


def _named(field: Any, name: str) -> Any:
    """Return what a field has by this name: a read-only one has it in a dictionary."""
    return field.field[name] if field.is_readonly else getattr(field.field, name)


def form_counts_of(formset: Any) -> SafeString:
    """Return the hidden fields with the numbers of an inline's forms."""
    if formset.is_bound:
        return mark_safe(str(formset.management_form))
    numbers = {
        TOTAL_FORM_COUNT: formset.total_form_count(),
        INITIAL_FORM_COUNT: formset.initial_form_count(),
        MIN_NUM_FORM_COUNT: formset.min_num,
        MAX_NUM_FORM_COUNT: formset.max_num,
    }
    prefix = escape(formset.prefix)
    return mark_safe(
        "".join(
            f'<input type="hidden" name="{prefix}-{name}" value="{number}" id="id_{prefix}-{name}">'
            for name, number in numbers.items()
        )
    )


def table_rows_of(formset: Any) -> SafeString:
    """Return the rows of an inline's table, a table body for each form."""
    forms = list(formset)
    before_last = forms[-2] if formset.has_add_permission and len(forms) > 1 else None
    return mark_safe(
        "".join(_group(formset, form, form is forms[-1], form is before_last) for form in forms)
    )


def shown_rows_of(formset: Any) -> SafeString:
    """Return the rows of a table that nobody writes in, without fields and what finds them."""
    rows = ("".join(_cells(formset, form)) for form in formset)
    return mark_safe("".join(f'<tbody class="group/parent"><tr>{row}</tr></tbody>' for row in rows))


def _group(formset: Any, form: Any, is_last: bool, is_before_last: bool) -> str:
    context = {"inline_admin_formset": formset, "inline_admin_form": form}
    css = "form-group relative group/parent" + (" last" if is_before_last else "")
    css += " original" if form.original or form.show_url else " template"
    css += " empty-form" if is_last and formset.has_add_permission else ""
    sort = " x-sort:item" if formset.opts.ordering_field else ""
    errors = title = undo = delete = ""
    if form.form.non_field_errors():
        errors = render_to_string(f"{TEMPLATES}/tabular_error.html", context)
    if form.original or form.show_url:
        title = _title(formset, form)
    if form.original:
        undo = '<tr class="hidden form-delete"><td colspan="100%">'
        if formset.formset.can_delete and formset.has_delete_permission:
            undo += render_to_string(f"{TEMPLATES}/inline_delete_undo.html", context)
        undo += "</td></tr>"
    if formset.formset.can_delete and formset.has_delete_permission:
        delete = render_to_string(f"{TEMPLATES}/tabular_delete.html", context)
    cells = "".join(_cells(formset, form))
    row = f'<tr class="{ROW}">{cells}{delete}</tr>'
    return f'<tbody class="{css}"{sort}>{errors}{title}{row}{undo}</tbody>'


def _title(formset: Any, form: Any) -> str:
    cells = 1 + formset.formset.can_delete
    cells += sum(not _named(field, "is_hidden") for field in _fields(form))
    shown = ""
    if not formset.opts.hide_title:
        name = getattr(form.original, "get_inline_title", lambda: "")() or form.original
        links = render_to_string(f"{TEMPLATES}/inline_links.html", {"inline_admin_form": form})
        shown = f'<p class="{NAME}"><span>{conditional_escape(str(name))}</span>{links}</p>'
    if form.needs_explicit_pk_field():
        shown += str(form.pk_field().field)
    if foreign := form.fk_field():
        shown += str(foreign.field)
    return f'<tr class="{TITLE}"><td colspan="{cells}">{shown}</td></tr>'


def _fields(form: Any) -> Iterator[Any]:
    return (field for fieldset in form for line in fieldset for field in line)


def _cells(formset: Any, form: Any) -> Iterator[str]:
    for field in _fields(form):
        if not field.is_readonly and field.field.is_hidden:
            yield str(field.field)
    space = " p-3 lg:py-3" if form.original else " py-3"
    for fieldset in form:
        first = next((field for line in fieldset for field in line), None)
        for field in (field for line in fieldset for field in line):
            if field.is_readonly or not field.field.is_hidden:
                yield _cell(formset, form, field, space, field is first)


def _cell(formset: Any, form: Any, field: Any, space: str, is_first: bool) -> str:
    name, drag = _named(field, "name"), ""
    errors = [] if field.is_readonly else field.field.errors
    css = f"{CELL} field-{name}{space}{' errors' if errors else ''}"
    if _named(field, "is_hidden"):
        css += " hidden!"
    if is_first and formset.opts.ordering_field:
        context = {"inline_admin_formset": formset, "inline_admin_form": form, "tabular": 1}
        drag = render_to_string(f"{TEMPLATES}/inline_drag.html", context)
    if field.is_readonly:
        value = read_only_value(field)
    else:
        told = " ".join(conditional_escape(error) for error in errors)
        told = f'<div class="{ERRORS}">{told}</div>' if told else ""
        value = f'<div class="flex flex-col grow">{field.field}{told}</div>'
    css = f' class="{css}"' if name else ""
    label = conditional_escape(_named(field, "label"))
    return (
        f'<td{css} data-label="{label}"><div class="flex flex-row gap-3 items-center">'
        f"{drag}{value}</div></td>"
    )
