"""Images of messages: upload, and the images themselves for who may read what refers to them."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evalhub.api.fields import BoundedJSON, PlainSerializer, RowSerializer
from evalhub.api.views import Rows
from evalhub.llm.content.image_files import ImageRefused
from evalhub.models import Image
from issues.api.json_types import Message
from issues.content.images import readable_images, upload, with_stored_images

SHOWN_ALONE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
}


class Messages(BoundedJSON):
    """A conversation; images in `image_url` parts are stored and named by digest."""

    of = list[Message]

    def to_internal_value(self, data: Any) -> Any:
        try:
            return super().to_internal_value(with_stored_images(data))
        except ImageRefused as error:
            raise serializers.ValidationError(str(error)) from error


class ImageUploadSerializer(PlainSerializer):
    """An image as a data: URL: data:image/png;base64, and its bytes."""

    image_url = serializers.CharField()


class ImageSerializer(RowSerializer):
    """A stored image. Name it in a part {"type": "image", "image": digest, "alt": description}."""

    image = serializers.CharField(source="digest")

    class Meta:
        model = Image
        fields = ("image", "media_type", "width", "height")


class ImageViewSet(Rows):
    """Images of tests and feedback, stored once, by digest.

    An image is shown to who may read a test or feedback that refers to it, and to its uploader.
    """

    queryset = Image.objects.all()
    serializer_class = ImageSerializer
    lookup_value_regex = "[0-9a-f]{64}"

    def get_queryset(self) -> QuerySet[Image]:
        return readable_images(self.user)

    @extend_schema(responses={(200, "image/*"): OpenApiTypes.BINARY})
    def retrieve(self, request: Request, pk: str) -> HttpResponseBase:
        """Return the image itself."""
        image = self.get_object()
        response = HttpResponse(bytes(image.content), content_type=image.media_type)
        ending = image.media_type.partition("/")[2]
        response["Content-Disposition"] = f'inline; filename="{image.digest[:12]}.{ending}"'
        for name, value in (SHOWN_ALONE | {"ETag": f'"{image.digest}"'}).items():
            response[name] = value
        plain: HttpRequest = request._request
        return get_conditional_response(plain, etag=response["ETag"], response=response) or response

    @extend_schema(request=ImageUploadSerializer, responses={201: ImageSerializer})
    def create(self, request: Request) -> Response:
        """Store an image: PNG, JPEG, WebP or GIF, without its metadata."""
        body = ImageUploadSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        try:
            image = upload(body.validated_data["image_url"], by=self.user)
        except ImageRefused as error:
            raise serializers.ValidationError({"image_url": [str(error)]}) from error
        return self.shown(image, status.HTTP_201_CREATED)
