from django.apps import AppConfig


class TrialsConfig(AppConfig):
    name = "runs.laboratory.trials"
    label = "trials"
    verbose_name = "Trials of judges"
