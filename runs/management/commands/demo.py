"""`manage.py demo`: the whole system with sample data and a real model."""

import os
import sys
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalhub.llm import local_model
from evalhub.management.commands import serve
from evalhub.work.processes import programs
from evalhub.work.processes.supervisor import CannotStart, Supervisor
from runs.demo import prepare as demo
from runs.launching.launch_options import LaunchRefused
from runs.models import Run

BIND = "127.0.0.1"


class Command(BaseCommand):
    help = "Load sample data, run it against a real model, and serve the site."
    # The first start has no secret key yet; `handle` checks once there is one.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="Port of the web server.")

    def handle(self, *args: Any, **options: Any) -> None:
        self.start_again_with(self.environment())
        self.check(display_num_errors=False)
        call_command("migrate", verbosity=0, interactive=False)
        _, password = demo.admin()
        author = demo.author()
        demo.load_history(author)
        try:
            runs = demo.prepare(author)
        except (ValidationError, LaunchRefused) as error:
            raise CommandError(f"The demo cannot start: {error}") from error
        # Loading takes a while: another demo may have taken the model's port meanwhile.
        self.start_again_with(self.environment())
        self.serve(options["port"], runs, password)

    def environment(self) -> dict[str, str]:
        """Set the demo's own settings; child processes inherit them."""
        if demo.is_embedded() and settings.EVALHUB_DEMO_BASE_URL:
            raise CommandError(
                "EVALHUB_DEMO_BASE_URL needs EVALHUB_DEMO_MODEL: set the model's name."
            )
        made = {} if "EVALHUB_LOG_LEVEL" in os.environ else dict(programs.QUIETLY)
        if settings.SECRET_KEY == settings.INSECURE_SECRET_KEY:
            made["EVALHUB_SECRET_KEY_FILE"] = str(demo.secret_key_file().absolute())
        port = settings.EVALHUB_MODEL_PORT
        if demo.is_embedded():
            try:
                local_model.weights()
            except local_model.NoLocalModel as error:
                raise CommandError(str(error)) from error
            port = self.free_port(port, "EVALHUB_MODEL_PORT")
            made["EVALHUB_MODEL_PORT"] = str(port)
        elif not settings.EVALHUB_DEMO_BASE_URL:
            return made
        allowed = [*settings.EVALHUB_ALLOWED_ADDRESSES, demo.allowed_address(port)]
        made["EVALHUB_ALLOWED_ADDRESSES"] = ",".join(dict.fromkeys(allowed))
        if settings.EVALHUB_DEMO_KEY_VARIABLE:
            bound = f"{settings.EVALHUB_DEMO_KEY_VARIABLE}@{demo.allowed_address(port)}"
            made["EVALHUB_KEYS"] = ",".join(dict.fromkeys([*settings.EVALHUB_KEYS, bound]))
        return made

    def start_again_with(self, environment: dict[str, str]) -> None:
        """Restart with added settings, for they are read only at the start."""
        if any(os.environ.get(name) != value for name, value in environment.items()):
            os.environ.update(environment)
            self.stdout.flush()
            os.execv(sys.executable, [sys.executable, *sys.argv])

    def free_port(self, wanted: int, what: str) -> int:
        port = programs.next_free(BIND, wanted)
        if port != wanted:
            self.stdout.write(f"{what}: port {wanted} is taken, using {port}.")
        return port

    def serve(self, wanted_port: int, runs: list[Run], password: str) -> None:
        port = self.free_port(wanted_port, "Web server")
        settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
        address = programs.address(BIND, port)
        parts = serve.parts(BIND, port, with_model=demo.is_embedded())
        self.stdout.write("Starting web server, worker and model ...")
        self.stdout.flush()
        try:
            Supervisor(parts, self.tell).run(lambda: self.tell(greeting(address, runs, password)))
        except CannotStart as error:
            raise CommandError(str(error)) from error
        self.tell(serve.STOPPED)

    def tell(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def greeting(address: str, runs: list[Run], password: str) -> str:
    is_over = Run.objects.complete().filter(pk__in=[run.pk for run in runs]).count() == len(runs)
    state = "are done" if is_over else "are being answered and judged right now"
    lines = [
        "",
        f"  EvalHub is at   {address}/",
        f"  Log in as       {demo.LOGIN}",
        f"  Password        {password or '(your own)'}",
        f"  Open            {address}{runs[0].get_absolute_url()}",
        "",
        f"  Two runs of {runs[0].model_name} {state}.",
        "  Ctrl-C ends everything; the next start goes on with the same data.",
        "",
    ]
    return "\n".join(lines)
