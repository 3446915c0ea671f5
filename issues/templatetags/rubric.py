"""The fields of a criterion; a template for each was a third of a test's page."""

from html import escape

from django import template
from django.forms import BoundField
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag
def criterion_field(
    field: BoundField, label: str = "", css: str = "", argument: str = ""
) -> SafeString:
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
    return mark_safe(
        f'<label class="{classes}"{holds}{title}><span>{conditional_escape(label or field.label)}'
        f"</span>{field} {told}{errors}</label>"
    )
