"""The plain widgets are what their templates make of them."""

import re
from copy import deepcopy

import pytest
from django import forms
from django.contrib import admin
from django.contrib.admin import HORIZONTAL
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.forms.renderers import DjangoTemplates
from django.test.html import parse_html
from django.utils.safestring import mark_safe
from unfold import widgets

from evalhub.admin_site.form_renderer import FixedChoices, PlainSelect, Renderer
from issues.models import Issue

HOSTILE = "<b>\"1\" & '2'</b>"
CHOICES = [("", "—"), ("Group", [(1, "one"), ("2", HOSTILE)]), (3, mark_safe("<i>3</i>"))]
RIGHTS = ("add", "change", "delete", "view")
FLAT = [("1", "one"), ("2", HOSTILE)]
PLAIN = [
    (forms.TextInput(), HOSTILE),
    (forms.TextInput({"class": "a", "required": True, "hidden": False}), None),
    (forms.NumberInput(), 1234.5),
    (forms.HiddenInput(), 0),
    (forms.CheckboxInput(), True),
    (forms.Textarea(), f"\n{HOSTILE}"),
    (forms.Select(choices=CHOICES), 3),
    (forms.SelectMultiple(choices=CHOICES), [1, "2"]),
    (widgets.UnfoldAdminTextInputWidget(), HOSTILE),
    (widgets.UnfoldAdminTextInputWidget({"prefix": "$"}), "1"),
    (widgets.UnfoldAdminTextareaWidget(), HOSTILE),
    (widgets.UnfoldAdminSelectWidget(choices=CHOICES), "2"),
    (widgets.UnfoldAdminRadioSelectWidget(choices=FLAT), "2"),
    (widgets.UnfoldAdminRadioSelectWidget(radio_style=HORIZONTAL, choices=FLAT), None),
]


def words_of(html):
    """Tags and texts, however they are spaced; names of styles in any order."""
    html = re.sub(r'class="([^"]*)"', lambda css: f'class="{" ".join(css[1].split())}"', html)
    return re.sub(r"\s*([<>])\s*", r"\1", re.sub(r"\s+", " ", html)).strip()


@pytest.mark.parametrize(("widget", "value"), PLAIN)
def test_a_widget_is_written_as_its_template_writes_it(widget, value):
    written, theirs = (
        deepcopy(widget).render("of", value, {"id": "id_of"}, renderer=renderer)
        for renderer in (Renderer(), DjangoTemplates())
    )

    assert words_of(written) == words_of(theirs)


@pytest.mark.parametrize("kind", [forms.CheckboxSelectMultiple, forms.RadioSelect])
@pytest.mark.parametrize("with_label", [True, False])
@pytest.mark.parametrize("attrs", [{"id": "id_of"}, {}])
def test_an_option_alone_is_written_as_its_template_writes_it(kind, with_label, attrs):
    for option in kind(choices=FLAT).subwidgets("of", "2", attrs):
        context = {"widget": {**option, "wrap_label": with_label}}
        written, theirs = (
            renderer.render(option["template_name"], context)
            for renderer in (Renderer(), DjangoTemplates())
        )

        assert written == theirs


@pytest.mark.parametrize("rights", [(), RIGHTS, ("view",)])
def test_a_related_field_is_written_as_its_template_writes_it(rights):
    relation = Issue._meta.get_field("assignee").remote_field
    granted = {f"can_{right}_related": right in rights for right in RIGHTS}
    widget = RelatedFieldWidgetWrapper(forms.Select(), relation, admin.site, **granted)
    widget.template_name = "unfold/widgets/related_widget_wrapper.html"
    context = widget.get_context("of", "1", {"id": "id_of"})

    ours, theirs = (
        renderer.render(widget.template_name, context)
        for renderer in (Renderer(), DjangoTemplates())
    )

    assert parse_html(ours) == parse_html(theirs)


@pytest.mark.parametrize("choices", [CHOICES, FixedChoices(CHOICES)])
@pytest.mark.parametrize("value", [None, "", 3, "2", "unknown"])
def test_a_plain_select_is_written_as_django_writes_it(value, choices):
    ours, theirs = (
        kind({"class": "a"}, given).render("of", value, {"id": "id_of"})
        for kind, given in ((PlainSelect, choices), (forms.Select, CHOICES))
    )

    assert words_of(ours) == words_of(theirs)


def test_fixed_choices_are_checked_and_shared_by_all_forms():
    class Form(forms.Form):
        number = forms.ChoiceField(choices=FixedChoices(CHOICES), widget=PlainSelect)

    first, second = Form({"number": "2"}), Form({"number": "4"})

    assert (first.is_valid(), second.is_valid()) == (True, False)
    assert first.fields["number"].choices is second.fields["number"].choices
    assert first.fields["number"].widget.choices is second.fields["number"].widget.choices


def test_a_label_errors_and_hidden_fields_are_written_as_their_templates_do():
    class Form(forms.Form):
        name = forms.CharField(label=HOSTILE)
        key = forms.CharField(widget=forms.HiddenInput)

    for data in (None, {"key": "1"}, {"name": "x"}):
        ours, theirs = (Form(data, renderer=one) for one in (Renderer(), DjangoTemplates()))

        assert words_of(str(ours)) == words_of(str(theirs))
        assert words_of(str(ours["name"].errors)) == words_of(str(theirs["name"].errors))
        assert words_of(ours["name"].label_tag()) == words_of(theirs["name"].label_tag())
