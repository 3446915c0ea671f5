"""The WSGI application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalhub.settings")
application = get_wsgi_application()

from evalhub.system_checks import refuse_harmful_settings  # noqa: E402

refuse_harmful_settings()
