"""The widgets of forms: the plain ones are written here, since their templates took most time."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from html import escape
from typing import Any, Self

from django.forms import Select
from django.forms.renderers import DjangoTemplates
from django.utils.choices import BaseChoiceIterator, flatten_choices
from django.utils.formats import localize
from django.utils.safestring import SafeString, mark_safe

OPTION = "django/forms/widgets/select_option.html"
RADIO = "unfold/widgets/radio_option.html"
INPUTS = ("checkbox", "date", "datetime", "email", "hidden", "input", "number", "password", "text")
SIGN = (
    "material-symbols-outlined absolute group-[.primary]:text-white pointer-events-none mr-[12px]"
    " right-0 text-base-400 top-0 top-1/2 hover:text-base-700 dark:text-base-500"
    " dark:hover:text-base-200 -translate-y-1/2"
)

OPENER = (
    "bg-white border border-base-200 cursor-pointer flex items-center h-[38px] justify-center ml-2"
    " rounded-default select-none shadow-xs shrink-0 text-base-400 text-sm w-[38px]"
    " hover:text-base-700 dark:bg-base-900 dark:border-base-700 dark:text-base-500"
    " dark:hover:text-base-200 focus:outline-2 focus:-outline-offset-2 focus:outline-primary-600"
)
MENU = (
    "bg-white border border-base-200 flex flex-col py-1 rounded-default shadow-lg top-7 z-50 w-56"
    " dark:bg-base-800 dark:border-base-700 *:opacity-50 *:[&[href]]:opacity-100 *:flex"
    " *:items-center *:gap-2 *:mx-1 *:px-3 *:py-2 *:max-h-[30px] *:truncate *:rounded-default"
    " *:hover:bg-base-100 *:dark:hover:bg-base-700 *:dark:hover:text-base-200"
)
POPUP = ' data-popup="yes"'
RED = "text-red-600 dark:text-red-500"
DELETES = "text-red-600 hover:text-red-600 dark:!text-red-500 dark:hover:!text-red-500"


class Renderer(DjangoTemplates):
    """Django's own, with the plain widgets written without their templates."""

    def render(self, template_name: str, context: dict[str, Any], request: Any = None) -> str:
        write = WRITERS.get(template_name)
        html = write(context) if write else None
        return super().render(template_name, context, request) if html is None else mark_safe(html)


def text(value: Any) -> str:
    """Return a value as templates show it."""
    return _plain(localize(value))


def attributes(named: Mapping[str, Any]) -> str:
    written = (
        f" {text(name)}" if value is True else f' {text(name)}="{_plain(value)}"'
        for name, value in named.items()
        if value is not False
    )
    return "".join(written)


def _plain(value: Any) -> str:
    return value if isinstance(value, SafeString) else escape(str(value))


def _input(context: Mapping[str, Any]) -> str:
    shown = context["widget"]
    value = "" if shown["value"] is None else f' value="{_plain(shown["value"])}"'
    start = f'<input type="{text(shown["type"])}" name="{text(shown["name"])}"'
    return f"{start}{value}{attributes(shown['attrs'])}>"


def _framed_input(context: Mapping[str, Any]) -> str | None:
    if any(
        context["widget"].get(f"{side}fix{kind}")
        for side in ("pre", "suf")
        for kind in ("", "_icon")
    ):
        return None
    return f'<div class="max-w-2xl relative w-full">{_input(context)}</div>'


def _text_area(context: Mapping[str, Any], gap: str = "") -> str:
    shown = context["widget"]
    start = f'<textarea name="{text(shown["name"])}"{attributes(shown["attrs"])}>'
    return f"{start}{gap}{text(shown['value'] or '')}</textarea>"


def _select(context: Mapping[str, Any]) -> str | None:
    shown = context["widget"]
    groups = [_group(name, options) for name, options, _ in shown["optgroups"]]
    if any(group is None for group in groups):
        return None
    start = f'<select name="{text(shown["name"])}"{attributes(shown["attrs"])}>'
    return "\n".join([start, *(group or "" for group in groups), "</select>"])


def _group(name: Any, options: list[dict[str, Any]]) -> str | None:
    """Return a group of options; None if one has a template of its own."""
    if any(option["template_name"] != OPTION for option in options):
        return None
    given: dict[int, str] = {}
    for option in options:  # most share theirs
        attrs = option["attrs"]
        if id(attrs) not in given:
            given[id(attrs)] = attributes(attrs)
    written = "\n".join(
        f'<option value="{_plain(option["value"])}"{given[id(option["attrs"])]}>'
        f"{text(option['label'])}</option>"
        for option in options
    )
    return f'<optgroup label="{text(name)}">{written}</optgroup>' if name else written


def _framed_select(context: Mapping[str, Any]) -> str | None:
    select = _select(context)
    sign = f'<span class="{SIGN}">expand_more</span>'
    return select and f'<div class="grow relative max-w-2xl">{select}{sign}</div>'


def _radios(context: Mapping[str, Any]) -> str | None:
    shown = context["widget"]
    groups = shown["optgroups"]
    if any(name or one["template_name"] != RADIO for name, some, _ in groups for one in some):
        return None
    css = "flex gap-2 flex-row gap-4" if context.get("radio_style") == 1 else "flex gap-2 flex-col"
    options = "".join(f"<div>{_radio(one)}</div>" for _, some, _ in groups for one in some)
    key = f' id="{_plain(shown["attrs"]["id"])}"' if shown["attrs"].get("id") else ""
    return f'<div{key} class="{css}">{options}</div>'


def _radio(option: Mapping[str, Any]) -> str:
    button = _input({"widget": option})
    if not option["wrap_label"]:
        return button
    key = f' for="{_plain(option["attrs"]["id"])}"' if option["attrs"].get("id") else ""
    label = f'<span class="truncate">{text(option["label"])}</span>'
    return f'<label{key} class="flex flex-row items-center gap-2">{button}{label}</label>'


def _option(context: Mapping[str, Any]) -> str:
    """Return one of several boxes or buttons alone, in its label if it has one."""
    shown = context["widget"]
    if not shown["wrap_label"]:
        return _input(context)
    key = f' for="{_plain(shown["attrs"]["id"])}"' if shown["attrs"].get("id") else ""
    return f"<label{key}>{_input(context)}\n {text(shown['label'])}</label>"


def _label(context: Mapping[str, Any]) -> str:
    label = text(context["label"])
    if not context["use_tag"]:
        return label
    return f"<{context['tag']}{attributes(context['attrs'])}>{label}</{context['tag']}>"


def _errors(context: Mapping[str, Any]) -> str | None:
    return None if context["errors"] else ""


def _divisions(context: Mapping[str, Any]) -> str | None:
    """Return the fields of a form whose fields are all hidden, such as that of a formset."""
    if context["errors"] or context["fields"]:
        return None
    return "".join(str(field) for field in context["hidden_fields"])


def _related(context: Mapping[str, Any]) -> str:
    """Return a field with its menu to change, add, view or delete the rows that it refers to."""
    name = text(context["name"])
    model = "" if context["model_has_limit_choices_to"] else text(context["model"])
    model_ref = f' data-model-ref="{model}"' if model else ""
    links = "" if context["is_hidden"] else _related_links(context, name)
    return (
        '<div class="flex-col items-center w-full">'
        '<div class="flex flex-row related-widget-wrapper"'
        f' data-id="related-widget-wrapper-{name}"{model_ref}>{context["rendered_widget"]}'
        f"{_menu(name, links) if links else ''}</div></div>"
    )


def _menu(name: str, links: str) -> str:
    opens = "openRelatedWidgetWrapper"
    return (
        f'<div x-data="{{ {opens}: false }}"><div class="{OPENER}"'
        f' x-ref="relatedWidgetWrapper{name}" x-on:click="{opens} = !{opens}">'
        '<span class="material-symbols-outlined">more_vert</span></div>'
        '<template x-teleport="body">'
        f'<nav class="{MENU}" id="related-widget-wrapper-{name}" x-cloak x-transition'
        f' x-on:click.outside="{opens} = false" x-on:keydown.escape="{opens} = false"'
        f' x-anchor.bottom-end.offset.4="$refs[\'relatedWidgetWrapper{name}\']" x-show="{opens}">'
        f"{links}</nav></template></div>"
    )


def _related_links(context: Mapping[str, Any], name: str) -> str:
    model, popup = text(context["model"]), text(context["url_params"])
    changed = text(context.get("change_related_template_url", ""))
    links = ""
    if context["can_change_related"]:
        to = f' data-href-template="{changed}?{popup}"{POPUP}'
        links += _related_link("change", name, to, f"Change selected {model}", "edit")
    if context["can_add_related"]:
        to = f'{POPUP} href="{text(context["add_related_url"])}?{popup}"'
        links += _related_link("add", name, to, f"Add another {model}", "add")
    if context["can_view_related"]:
        to = f' data-href-template="{changed}?{text(context["view_related_url_params"])}"'
        links += _related_link("view", name, to, f"View selected {model}", "visibility")
    if context["can_delete_related"]:
        deleted = text(context["delete_related_template_url"])
        to = f' data-href-template="{deleted}?{popup}"{POPUP}'
        links += _related_link("delete", name, to, f"Delete selected {model}", "delete")
    return links


def _related_link(act: str, name: str, to: str, title: str, sign: str) -> str:
    css, red = (f" {DELETES}", f" {RED}") if act == "delete" else ("", "")
    return (
        f'<a class="related-widget-wrapper-link {act}-related{css}" id="{act}_id_{name}"{to}'
        f' title="{title}"><span class="material-symbols-outlined -ml-1.5 text-icon{red}">{sign}'
        f'</span> <span class="grow truncate">{title}</span></a>'
    )


class FixedChoices(BaseChoiceIterator):
    """The same choices in all forms: not copied for each, and written once for each chosen one."""

    def __init__(self, choices: Iterable[tuple[Any, Any]]) -> None:
        self.choices = list(choices)
        self._keys = {str(key) for key, _ in flatten_choices(self.choices)}
        self._written: dict[frozenset[str], str] = {}

    def __iter__(self) -> Iterator[Any]:
        return iter(self.choices)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __contains__(self, key: object) -> bool:
        return str(key) in self._keys

    def written(self, chosen: Collection[str]) -> str:
        """Return the options of a select; keys that are not among them come from outside."""
        known = frozenset(self._keys.intersection(chosen))
        if known not in self._written:
            self._written[known] = _groups(self.choices, known)
        return self._written[known]


class PlainSelect(Select):
    """Written from its choices, without a dictionary for each option."""

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        chosen = self.format_value(value)
        choices: Any = self.choices
        is_fixed = isinstance(choices, FixedChoices)
        options = choices.written(chosen) if is_fixed else _groups(choices, chosen)
        given = attributes(self.build_attrs(self.attrs, attrs))
        return mark_safe(f'<select name="{text(name)}"{given}>\n{options}\n</select>')


def _groups(choices: Iterable[tuple[Any, Any]], chosen: Collection[str]) -> str:
    return "\n".join(
        f'<optgroup label="{text(label)}">{_options(inner, chosen)}</optgroup>'
        if isinstance(inner, list | tuple)
        else _options([(label, inner)], chosen)
        for label, inner in choices
    )


def _options(choices: Iterable[tuple[Any, Any]], chosen: Collection[str]) -> str:
    return "\n".join(
        f'<option value="{_plain(value)}"{" selected" if str(value) in chosen else ""}>'
        f"{text(label)}</option>"
        for value, label in choices
    )


WRITERS: Mapping[str, Callable[[Mapping[str, Any]], str | None]] = {
    **{f"django/forms/widgets/{name}.html": _input for name in INPUTS},
    **{f"django/forms/widgets/{name}_option.html": _option for name in ("checkbox", "radio")},
    "django/forms/widgets/textarea.html": lambda context: _text_area(context, "\n"),
    "django/forms/widgets/select.html": _select,
    "django/forms/label.html": _label,
    "django/forms/errors/list/ul.html": _errors,
    "django/forms/div.html": _divisions,
    "unfold/widgets/text.html": _framed_input,
    "unfold/widgets/textarea.html": _text_area,
    "unfold/widgets/select.html": _framed_select,
    "unfold/widgets/radio.html": _radios,
    "unfold/widgets/related_widget_wrapper.html": _related,
}
"""By their templates; None from one that leaves a case to its template."""
