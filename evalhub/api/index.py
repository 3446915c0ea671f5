from django.urls import get_resolver
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

ROOT = "api/v1/"


class ApiIndex(APIView):
    """The addresses of all lists, by name."""

    permission_classes = (IsAuthenticated,)

    @extend_schema(responses={200: {"type": "object", "additionalProperties": {"type": "string"}}})
    def get(self, request: Request) -> Response:
        return Response({name: request.build_absolute_uri(f"/{ROOT}{name}/") for name in lists()})


def lists() -> list[str]:
    """Return the names of all lists: the addresses of one word below the root."""
    addresses = (
        possibility[0]
        for found in get_resolver().reverse_dict.lists()
        for possibilities, *_ in found[1]
        for possibility in possibilities
    )
    names = {one.removeprefix(ROOT).rstrip("/") for one in addresses if one.startswith(ROOT)}
    return sorted(name for name in names if name and "/" not in name and "%" not in name)
