from django.apps import AppConfig


class RehearsalsConfig(AppConfig):
    name = "runs.rehearsals"
    label = "rehearsals"
    verbose_name = "Rehearsals"
