"""The form that all others of the site's own pages are made from."""

from typing import Any

from django import forms

TICKED = (forms.CheckboxInput, forms.RadioSelect, forms.CheckboxSelectMultiple)


class InputForm(forms.Form):
    """A form whose inputs look like the others of the site, unless they name a class."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if not isinstance(field.widget, TICKED):
                field.widget.attrs.setdefault("class", "eh-input")
