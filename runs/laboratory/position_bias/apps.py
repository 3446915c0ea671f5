from django.apps import AppConfig


class PositionBiasConfig(AppConfig):
    name = "runs.laboratory.position_bias"
    label = "position_bias"
    verbose_name = "Position bias"
