"""The web server's settings: `gunicorn -c python:evalhub.work.web evalhub.wsgi`."""

from typing import Any

from evalhub.work.parent_watch import die_with

worker_class = "gthread"
workers = 2
threads = 4
graceful_timeout = 5
loglevel = "warning"
# A socket for remote control, in the home directory, shared by all servers of the user.
control_socket_disable = True


def post_fork(server: Any, worker: Any) -> None:
    """A worker dies with its master, however that dies."""
    die_with(server.pid)
