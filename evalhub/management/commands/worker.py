"""`manage.py worker`: do the background work."""

import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalhub.work import queue_worker
from evalhub.work.cluster import Cluster
from evalhub.work.reaper import every_minute


class Command(BaseCommand):
    help = "Do the background work, until Ctrl-C or SIGTERM."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--processes",
            type=int,
            default=settings.EVALHUB_WORKERS,
            help="Worker processes; by default EVALHUB_WORKERS.",
        )
        parser.add_argument(
            "--once", action="store_true", help="Do what there is to do, in this process, and end."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["processes"] < 1:
            raise CommandError(f"--processes {options['processes']}: at least 1 is needed.")
        if options["once"]:
            drain()
        else:
            Cluster(options["processes"]).run()


def drain() -> None:
    stop = queue_worker.Stop()
    stop.listen(signal.SIGTERM, signal.SIGINT)
    every_minute()
    if not queue_worker.drain(stop):
        raise CommandError("The work failed; the log above says why.")
