import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalhub.operations.system_checks import refuse_harmful_settings
from evalhub.work.processes import queue_worker
from evalhub.work.processes.cluster import Cluster
from evalhub.work.processes.reaper import every_minute


class Command(BaseCommand):
    help = "Run background work until Ctrl-C or SIGTERM."
    requires_system_checks = []  # most of Django's load all pages

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--processes",
            type=int,
            default=settings.EVALHUB_WORKERS,
            help="Number of worker processes (default: EVALHUB_WORKERS).",
        )
        parser.add_argument(
            "--once", action="store_true", help="Do the pending work in this process, then exit."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_harmful_settings()
        if options["processes"] < 1:
            raise CommandError(f"--processes {options['processes']} is too low: use at least 1.")
        if options["once"]:
            drain()
        else:
            Cluster(options["processes"]).run()


def drain() -> None:
    stop = queue_worker.Stop()
    stop.listen(signal.SIGTERM, signal.SIGINT)
    every_minute()
    if not queue_worker.drain(stop):
        raise CommandError("The work failed; see the log above.")
