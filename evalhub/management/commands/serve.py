import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalhub.work.processes import programs
from evalhub.work.processes.supervisor import CannotStart, Program, Supervisor

STOPPED = "Stopped. Unfinished work resumes at the next start."


class Command(BaseCommand):
    help = "Run the site: web server, worker and, with --model, the embedded model."
    requires_migrations_checks = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="Port of the web server.")
        parser.add_argument("--bind", default="127.0.0.1", help="Address of the web server.")
        parser.add_argument(
            "--model",
            action="store_true",
            help="Also serve the embedded model on EVALHUB_MODEL_PORT.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        bind, port = options["bind"], options["port"]
        if not programs.is_free(bind, port):
            raise CommandError(
                f"Cannot listen on {bind}:{port}: the port is in use, or the address is not this "
                "machine's. Choose another with --port or --bind."
            )
        settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # whitenoise looks for it
        self.supervise(
            parts(bind, port, with_model=options["model"]),
            f"EvalHub is at {programs.address(bind, port)}/ (Ctrl-C to stop).",
        )

    def supervise(self, parts: list[Program], greeting: str) -> None:
        try:
            Supervisor(parts, self.stdout.write).run(lambda: self.stdout.write(greeting))
        except CannotStart as error:
            raise CommandError(str(error)) from error
        self.stdout.write(STOPPED)


def parts(bind: str, port: int, *, with_model: bool) -> list[Program]:
    """Return the site's programs; they log warnings only, unless EVALHUB_LOG_LEVEL is set."""
    environment = {} if "EVALHUB_LOG_LEVEL" in os.environ else programs.QUIETLY
    found = [
        programs.web(bind, port, environment),
        Program("worker", (*programs.MANAGE, "worker"), programs.SOURCE | environment),
    ]
    if with_model:
        found.append(programs.model(settings.EVALHUB_MODEL_PORT, environment))
    return found
