from django.apps import AppConfig


class ReviewConfig(AppConfig):
    name = "runs.review"
    label = "review"
    verbose_name = "Review"

    def ready(self) -> None:
        from runs.review.requirements import held_hidden
        from runs.scoring.shown_verdicts import hide

        hide(held_hidden)
