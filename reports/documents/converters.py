"""Parts of report addresses."""

from django.urls import register_converter
from django.urls.converters import StringConverter


class FileEnding(StringConverter):
    """The file extension of a report."""

    regex = "csv|json|md|html"


register_converter(FileEnding, "report_file")
