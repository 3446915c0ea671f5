from django.apps import AppConfig


class PairwiseConfig(AppConfig):
    name = "runs.laboratory.pairwise"
    label = "pairwise"
    verbose_name = "Pairwise comparison"
