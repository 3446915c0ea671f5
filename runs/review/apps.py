from django.apps import AppConfig


class ReviewConfig(AppConfig):
    name = "runs.review"
    label = "review"
    verbose_name = "Review"
