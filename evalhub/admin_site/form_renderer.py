from functools import cached_property
from pathlib import Path
from typing import Any

import django.forms
from django.conf import settings
from django.forms.renderers import DjangoTemplates


class Renderer(DjangoTemplates):
    """Django's own, with the templates of choices in `templates/forms`: one for all options."""

    @cached_property
    def engine(self) -> Any:
        own = settings.BASE_DIR / "templates" / "forms"
        theirs = Path(django.forms.__file__).parent / "templates"
        found = {"APP_DIRS": True, "DIRS": [own, theirs], "NAME": "djangoforms", "OPTIONS": {}}
        return self.backend(found)
