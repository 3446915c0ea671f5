from django.apps import AppConfig


class WorkbenchConfig(AppConfig):
    name = "runs.workbench"
    label = "workbench"
    verbose_name = "Workbench"
