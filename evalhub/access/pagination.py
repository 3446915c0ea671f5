"""Cursor pagination: stable while rows arrive, and as fast on the last page as on the first."""

from rest_framework.pagination import CursorPagination


class Pagination(CursorPagination):
    ordering = "-pk"
    page_size_query_param = "page_size"
    max_page_size = 1000
