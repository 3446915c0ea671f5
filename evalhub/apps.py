from django.apps import AppConfig
from django.db.models.signals import post_migrate


class EvalHubConfig(AppConfig):
    name = "evalhub"
    verbose_name = "Settings"

    def ready(self) -> None:
        from evalhub import system_checks  # noqa: F401
        from evalhub.access.roles import apply_roles

        post_migrate.connect(apply_roles, dispatch_uid="evalhub.roles")
