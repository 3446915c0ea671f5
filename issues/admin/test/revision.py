from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from unfold.decorators import display

from evalhub.admin_site.pages import ReadOnlyAdmin
from evalhub.display.html import text_block
from evalhub.llm.content.content_parts import all_images
from issues.content.conversation import request_messages
from issues.content.test_content import JUDGED_TEXTS
from issues.judge_templates.prompts import conversation_text
from issues.models import Revision, Test
from issues.rubrics.scoring import WHOLE_TEST


def _text(name: str) -> Any:
    field: Any = Test._meta.get_field(name)

    @display(description=field.verbose_name)
    def text(_admin: object, revision: Revision) -> str:
        return text_block(revision.content[name])

    return text


@admin.register(Revision)
class RevisionAdmin(ReadOnlyAdmin):
    """Frozen versions of tests, read-only, linked from the test's page."""

    list_display = ("__str__", "test", "template", "created_at")
    list_select_related = ("test__issue", "template")

    fieldsets: Any = (
        (None, {"fields": ("test", ("number", "created_at"), "asked")}),
        ("Judged by", {"fields": ("template", ("pass_threshold", "pass_rule"))}),
        ("Rubric", {"fields": ("rubric",)}),
        (None, {"fields": (*JUDGED_TEXTS, "tools")}),
        ("Digests", {"fields": ("asked_digest", "digest")}),
    )

    class Media:
        css = {"all": ("evalhub/rubric.css",)}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Revision]:
        return super().get_queryset(request).readable_by(request.user)  # type: ignore[no-any-return]

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return flatten_fieldsets(self.fieldsets)

    @display(description="input")
    def asked(self, revision: Revision) -> str:
        content = revision.content
        text = conversation_text(request_messages(content["messages"], content["context"]))
        shown = {"text": text, "images": all_images(content["messages"])}
        return render_to_string("issues/conversation.html", shown)

    locals().update({name: _text(name) for name in JUDGED_TEXTS})

    @display(description="points")
    def rubric(self, revision: Revision) -> str:
        points = revision.criteria.exclude(key=WHOLE_TEST)
        return render_to_string("issues/rubric_readonly.html", {"points": points})

    @display(description="tools")
    def tools(self, revision: Revision) -> Any:
        return revision.content["tools"] or "—"
