import gc
import os
from importlib import import_module

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalhub.settings")
application = get_wsgi_application()

from django.conf import settings  # noqa: E402

from evalhub.operations.system_checks import refuse_harmful_settings  # noqa: E402

refuse_harmful_settings()
import_module(settings.ROOT_URLCONF)  # with all pages, which no request should wait for

# What is loaded by now stays: no request that makes many objects should look all of it through.
gc.collect()
gc.freeze()
