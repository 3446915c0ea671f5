"""The page of the similarity of models' answers to a test."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from evalhub.admin_site.pages import current_user, row_number
from evalhub.llm import word_vectors
from evalhub.llm.content.content_parts import all_images
from issues.models import Test
from reports.documents.rendering import needs, page
from reports.limits import MAX_SIMILAR_VARIANTS
from reports.similarity.query import similarity_of
from runs.result_list.listing import prompt_of


@needs("runs.view_run")
def similarity(request: HttpRequest, pk: int) -> HttpResponse:
    """Compare models' answers to a test."""
    tests = Test.objects.readable_by(request.user).select_related("issue")
    test = get_object_or_404(tests, pk=pk)
    found = similarity_of(
        test,
        reader=current_user(request),
        result_id=row_number(request.GET.get("result")),
        embedder_id=row_number(request.GET.get("by")) or None,
    )
    return page(
        request,
        "reports/similarity/page.html",
        f"Answers to test {test.pk}",
        similarity=found,
        test=test,
        prompt=prompt_of(found.messages),
        images=all_images(found.messages),
        rows=list(zip(found.variants, found.matrix, strict=True)),
        most=MAX_SIMILAR_VARIANTS,
        problem="" if found.embedder.endpoint else word_vectors.problem(),
    )
