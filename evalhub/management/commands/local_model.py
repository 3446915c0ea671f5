import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalhub.llm import local_model

STOPPING = {signal.SIGINT, signal.SIGTERM}


class Command(BaseCommand):
    help = "Serve the embedded model on 127.0.0.1 until interrupted."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=settings.EVALHUB_MODEL_PORT)

    def handle(self, *args: Any, port: int, **options: Any) -> None:
        # Block the signals before the server's threads start, so that these do not receive them.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        try:
            server = local_model.serve(port)
        except local_model.NoLocalModel as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{local_model.MODEL_NAME} answers at {local_model.base_url(port)}")
        self.stdout.flush()
        signal.sigwait(STOPPING)
        del server
