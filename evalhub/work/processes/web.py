"""The web server's settings: `gunicorn -c python:evalhub.work.processes.web evalhub.wsgi`."""

import os
from typing import Any

from evalhub.logs import configuration
from evalhub.work.processes.parent_watch import die_with

worker_class = "gthread"
workers = 2
threads = 4
graceful_timeout = 5
loglevel = "warning"
if os.environ.get("EVALHUB_LOG_FORMAT") == "json":
    # Its own lines too; those about requests are the site's (`evalhub.logs`).
    logconfig_dict = configuration("json", "WARNING")
    logconfig_dict["loggers"]["gunicorn.error"] = {"handlers": [], "propagate": True}
# A socket for remote control, in the home directory, shared by all servers of the user.
control_socket_disable = True


def post_fork(server: Any, worker: Any) -> None:
    """A worker dies with its master, however that dies."""
    die_with(server.pid)
