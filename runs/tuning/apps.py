from django.apps import AppConfig


class TuningConfig(AppConfig):
    name = "runs.tuning"
    label = "tuning"
    verbose_name = "Judge tuning"
