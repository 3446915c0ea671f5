from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from evalhub.settings.environment import Setting, env

HEAD = "| variable | default | meaning |\n|---|---|---|\n"


class Command(BaseCommand):
    help = "Print the settings table of docs/settings.md."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(HEAD + "\n".join(map(row, env.settings)))


def row(setting: Setting) -> str:
    """Format a setting as a table row, with defaults relative to the project's folder."""
    default = setting.default.replace(f"{settings.BASE_DIR}/", "")
    shown = f"`{default}`" if default else ""
    return f"| `{setting.name}` | {shown} | {setting.meaning} |"
