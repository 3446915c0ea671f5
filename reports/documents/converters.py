"""Parts of report addresses."""

from django.urls import register_converter


class FileEnding:
    """The file extension of a report."""

    regex = "csv|json|md|html"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(FileEnding, "report_file")
