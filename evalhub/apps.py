from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate, pre_delete, pre_migrate


class EvalHubConfig(AppConfig):
    name = "evalhub"
    verbose_name = "Settings"

    def ready(self) -> None:
        from axes.models import AccessFailureLog, AccessLog
        from axes.signals import user_locked_out
        from django.contrib.auth.models import Group
        from django.contrib.auth.signals import user_logged_in

        from evalhub.access.logins import note_password, notify_of_lock
        from evalhub.access.models import User
        from evalhub.access.roles import apply_roles
        from evalhub.audit import sql_view
        from evalhub.audit.sql_view import keep_authors

        user_logged_in.connect(note_password, dispatch_uid="evalhub.passwords")
        user_locked_out.connect(notify_of_lock, dispatch_uid="evalhub.lock_outs")
        AccessLog._meta.verbose_name, AccessLog._meta.verbose_name_plural = "login", "logins"
        AccessFailureLog._meta.verbose_name = "failed login"
        AccessFailureLog._meta.verbose_name_plural = "failed logins"
        Group._meta.verbose_name, Group._meta.verbose_name_plural = "role", "roles"
        last = [config for config in apps.get_app_configs() if config.models_module][-1]
        # Only then are there the rights of all apps.
        post_migrate.connect(apply_roles, sender=last, dispatch_uid="evalhub.roles")
        pre_delete.connect(keep_authors, sender=User, dispatch_uid="evalhub.audit")
        pre_migrate.connect(sql_view.drop, sender=self, dispatch_uid="evalhub.audit")
        post_migrate.connect(sql_view.make, sender=self, dispatch_uid="evalhub.audit")
