from django.apps import AppConfig


class TuningConfig(AppConfig):
    name = "runs.laboratory.tuning"
    label = "tuning"
    verbose_name = "Judge tuning"
