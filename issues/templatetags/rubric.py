"""The forms of criteria; templates for each field and row were a third of a test's page."""

from html import escape
from typing import Any

from django import template
from django.forms import BoundField
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

GRIP = '<span class="eh-point-grip eh-js" data-eh-grip title="Drag to move">⠿</span>'
BUTTONS = (
    '<span class="eh-toolbar eh-spread eh-js"><button type="button" class="eh-button"'
    ' data-eh-act="up" aria-label="Move up" title="Move up (Alt ↑)">↑</button><button type="button"'
    ' class="eh-button" data-eh-act="down" aria-label="Move down" title="Move down (Alt ↓)">↓'
    '</button><button type="button" class="eh-button eh-button--danger" data-eh-act="delete">'
    "Delete</button></span>"
)
GONE = (
    '<p class="eh-point-gone eh-js"><span data-eh-gone></span> <button type="button"'
    ' class="eh-button" data-eh-act="undo">Undo</button></p>'
)


@register.simple_tag
def criterion_row(form: Any, place: int | str = "") -> SafeString:
    """Return the form of a criterion, with its number in the list."""
    saved = "yes" if form.instance.pk else ""
    hidden = "".join(f"{field}{_alerts(field.errors)}" for field in form.hidden_fields())
    return mark_safe(
        f'<li class="eh-point" data-eh-point data-eh-saved="{saved}">{hidden}{_bar(form, place)}'
        f"{_alerts(form.non_field_errors())}{_body(form)}{GONE}</li>"
    )


def _bar(form: Any, place: int | str) -> str:
    fields = [
        _field(form["polarity"], "The answer"),
        _field(form["weight"], css="eh-point-short"),
        _field(form["alternative"]),
        _field(form["mandatory"], css="eh-point-checkbox"),
        *(_field(field) for field in form.further_fields()),
        _field(form["order"], "Place", "eh-point-short eh-no-js"),
    ]
    if "DELETE" in form.fields:
        fields.append(_field(form["DELETE"], "Delete", "eh-point-checkbox eh-no-js"))
    number = f'<strong class="eh-point-place" data-eh-place>{place}</strong>'
    return f'<div class="eh-point-bar">{GRIP}{number}{"".join(fields)}{BUTTONS}</div>'


def _body(form: Any) -> str:
    arguments = "".join(
        _field(field, css="eh-point-argument", argument=field.name)
        for field in form.argument_fields()
    )
    source = ""
    if key := form.instance.library_key:
        version = form.instance.library_version
        source = f"From the library: {escape(key)}, version {version}"
        source = f'<small class="eh-muted">{source}</small>'
    return (
        f'<div class="eh-point-body">{_field(form["text"], css="eh-point-text")}'
        f'<div class="eh-point-check">{_field(form["check_name"])}'
        f'<div class="eh-point-arguments" data-eh-arguments>{arguments}</div>'
        '<p class="eh-muted eh-point-says" data-eh-says></p>'
        f'<details class="eh-point-citation"{" open" if form.opens else ""}>'
        '<summary class="eh-muted">Citation</summary>'
        f"{_field(form['citation'], css='eh-point-text')}</details>{source}</div></div>"
    )


def _alerts(errors: Any) -> str:
    return "".join(
        f'<p class="eh-point-error" role="alert">{conditional_escape(error)}</p>'
        for error in errors
    )


def _field(field: BoundField, label: str = "", css: str = "", argument: str = "") -> str:
    """Return a field with its label, help and errors.

    Args:
        argument: Name of the check's argument that it holds; "" for another field.
    """
    is_box = getattr(field.field.widget, "input_type", "") == "checkbox"
    classes = f"eh-point-field{' eh-point-field--wrong' if field.errors else ''}"
    classes += f" {css}" if css else ""
    help_text = conditional_escape(field.help_text) if field.help_text else ""
    told = f'<small class="eh-muted">{help_text}</small>' if help_text and not is_box else ""
    errors = "".join(
        f'<small class="eh-point-error" role="alert">{conditional_escape(str(error))}</small>'
        for error in field.errors
    )
    holds = f' data-eh-argument="{escape(argument)}"' if argument else ""
    title = f' title="{help_text}"' if help_text and is_box else ""
    return (
        f'<label class="{classes}"{holds}{title}><span>{conditional_escape(label or field.label)}'
        f"</span>{field} {told}{errors}</label>"
    )
