"""The page of how alike models answer one test."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from evalhub.llm import word_vectors
from evalhub.pages import person, row_number
from issues.models import Test
from reports.queries.grid import prompt_of
from reports.queries.similarity import MOST, likeness_of
from reports.views.shell import needs, page


@needs("runs.view_run")
def similarity(request: HttpRequest, pk: int) -> HttpResponse:
    """Which models answer this test alike, and which one unlike the others?"""
    tests = Test.objects.readable_by(request.user).select_related("issue")
    test = get_object_or_404(tests, pk=pk)
    likeness = likeness_of(
        test,
        reader=person(request),
        result_id=row_number(request.GET.get("result")),
        embedder_id=row_number(request.GET.get("by")) or None,
    )
    return page(
        request,
        "reports/similarity.html",
        f"How alike is test {test.pk} answered?",
        likeness=likeness,
        test=test,
        prompt=prompt_of(likeness.messages),
        rows=list(zip(likeness.variants, likeness.matrix, strict=True)),
        most=MOST,
        problem="" if likeness.embedder.endpoint else word_vectors.problem(),
    )
