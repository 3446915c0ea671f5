from django.apps import AppConfig


class PairwiseConfig(AppConfig):
    name = "runs.pairwise"
    label = "pairwise"
    verbose_name = "Pairwise comparison"
