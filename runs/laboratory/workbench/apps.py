from django.apps import AppConfig


class WorkbenchConfig(AppConfig):
    name = "runs.laboratory.workbench"
    label = "workbench"
    verbose_name = "Workbench"
