"""Copies of library criteria: in a rubric, or as the draft of a judge template."""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.text import Truncator, slugify

from evalhub.access.models import User
from evalhub.history import save_signed
from evalhub.refusals import Refused
from evalhub.values.digest import digest
from issues.judge_templates.builtin import prompt_of_question
from issues.judge_templates.lifecycle import shown_by
from issues.models import (
    Criterion,
    CriterionFields,
    CriterionKind,
    JudgedText,
    JudgeTemplate,
    LibraryCriterion,
    LibraryState,
    Shelf,
    TemplateExample,
    TemplateState,
    Test,
)
from issues.models.library import content_of, set_content
from issues.rubrics import editing
from issues.rubrics.library.content import ROLES
from issues.rubrics.scales import FIVE_CLASSES, Option, Scale, as_json, from_json

UNJUDGED = "(not judged)"
MAX_KEY = 80
MAX_SEARCH = 100
SEARCHED = ("name", "question", "description", "tags", "key")


def current_criteria() -> QuerySet[LibraryCriterion]:
    return LibraryCriterion.objects.filter(state=LibraryState.CURRENT)


def rubric_criteria() -> QuerySet[LibraryCriterion]:
    """Return the criteria that a rubric can take: direct ones about the answer."""
    return current_criteria().filter(kind=CriterionKind.DIRECT, judged_text=JudgedText.ANSWER)


def pairwise_criteria() -> QuerySet[LibraryCriterion]:
    """Return the criteria by which a judge names the better of two answers."""
    return current_criteria().filter(kind=CriterionKind.PAIRWISE)


def with_words(rows: QuerySet[LibraryCriterion], words: str) -> QuerySet[LibraryCriterion]:
    """Filter the criteria in which each word occurs."""
    for word in words[:MAX_SEARCH].split():
        found = (Q(**{f"{field}__icontains": word}) for field in SEARCHED)
        rows = rows.filter(reduce(or_, found))
    return rows


def with_uses(
    rows: QuerySet[LibraryCriterion], reader: User | AnonymousUser
) -> QuerySet[LibraryCriterion]:
    """Annotate `tests_total`: the tests that this user may read with a copy in their rubric."""
    tests = Test.objects.readable_by(reader).order_by().values("pk")
    copies = Criterion.objects.filter(library_key=OuterRef("key"), test__in=tests).order_by()
    counts = copies.values("library_key").annotate(n=Count("test", distinct=True)).values("n")
    return rows.annotate(tests_total=Coalesce(Subquery(counts), 0))


def as_criterion(row: LibraryCriterion) -> dict[str, Any]:
    """Return what a rubric takes of it, by the names in a revision's content."""
    return {
        "text": row.question,
        "polarity": row.polarity,
        "check": row.check_name,
        "arguments": row.arguments,
        "library_key": row.key,
        "library_version": row.version,
    }


def copy_to_rubric(rows: Sequence[LibraryCriterion], test: Test, *, by: User) -> None:
    """Append copies to a test's rubric.

    Raises:
        Refused: One of them cannot be a criterion of a rubric.
    """
    usable = set(rubric_criteria().values_list("pk", flat=True))
    if refused := [row for row in rows if row.pk not in usable]:
        raise Refused(
            [
                f"“{row.name}” cannot be in a rubric: it is retired, compares answers, or judges "
                "another text than the answer."
                for row in refused
            ]
        )
    editing.append(test, [as_criterion(row) for row in rows], by=by)


@transaction.atomic
def draft_template(row: LibraryCriterion, *, by: User) -> JudgeTemplate:
    """Create a draft of a judge template with its question, scale and examples.

    Raises:
        Refused: It is pairwise, or its template has a draft already.
    """
    if row.scale is None:
        raise Refused([f"“{row.name}” compares two answers. A judge template scores one."])
    family = f"criterion-{row.key}"[:MAX_KEY]
    newest = JudgeTemplate.objects.filter(family=family).order_by("-version").first()
    if newest is not None and newest.state == TemplateState.DRAFT:
        raise Refused([f"{newest} is a draft already. Edit or delete that one."])
    text = prompt_of_question(row.question, row.judged_text)
    draft = JudgeTemplate(
        family=family,
        version=newest.version + 1 if newest else 1,
        title=row.name,
        text=text,
        scale=row.scale,
        **shown_by(text),
    )
    try:
        draft.clean()
    except ValidationError as error:
        raise Refused(error.messages) from error
    save_signed(draft, by, f"From library criterion {row}")
    for order, role in enumerate((r for r in ROLES if r in row.examples), 1):
        example = row.examples[role]
        texts = (example.get("context", ""), example.get("input", ""))
        TemplateExample.objects.create(
            template=draft,
            order=order,
            input="\n\n".join(text for text in texts if text),
            output=example.get("answer") or UNJUDGED,
            reference=example.get("reference", ""),
            option=example["option"],
            justification=example.get("why", ""),
        )
    return draft


def entry_from_criterion(
    criterion: CriterionFields,
    *,
    by: User,
    name: str = "",
    shelf: str = Shelf.QUALITY,
    scale: Scale | None = None,
    examples: Mapping[str, Mapping[str, str]] | None = None,
) -> LibraryCriterion:
    """Save a rubric's or a workbench's criterion as one of the library, and return it.

    Args:
        criterion: Saved or not.
        by: Its author.
        name: Empty: the beginning of its text.
        shelf: Of the library.
        scale: Its options, a higher value being better; None: five levels, inverted if showing it
            is a fault.
        examples: By role, as in `issues.rubrics.library.content`.

    Raises:
        Refused: It is of a sealed test, or not valid in the library.
    """
    if isinstance(criterion, Criterion) and criterion.test_id and criterion.test.sealed:
        raise Refused([f"Test {criterion.test_id} is sealed. Its criteria stay in it."])
    text = criterion.text.strip() or criterion.check_name
    row = LibraryCriterion(
        name=name or Truncator(text).chars(100),
        shelf=shelf,
        question=text,
        polarity=criterion.polarity,
        scale=as_json(scale or _levels(criterion.is_inverted)),
        check_name=criterion.check_name,
        arguments=criterion.arguments,
        examples={role: dict(example) for role, example in (examples or {}).items()},
    )
    return add(row, by=by)


def _levels(is_inverted: bool) -> Scale:
    if not is_inverted:
        return FIVE_CLASSES
    return Scale(tuple(Option(o.label, o.description, 1 - o.value) for o in FIVE_CLASSES.options))


def add(row: LibraryCriterion, *, by: User, reason: str = "") -> LibraryCriterion:
    """Save a new criterion with an unused key.

    Raises:
        Refused: It is not valid.
    """
    row.key = row.key or free_key(row.name)
    row.author = by
    try:
        row.full_clean()
    except ValidationError as error:
        raise Refused(error.messages) from error
    return save_signed(row, by, reason)


def free_key(name: str) -> str:
    """Return an unused key made of a name."""
    stem = slugify(name)[: MAX_KEY - 5].strip("-") or "criterion"
    taken = set(LibraryCriterion.objects.filter(key__startswith=stem).values_list("key", flat=True))
    return next(k for k in (stem, *(f"{stem}-{n}" for n in range(2, 10_000))) if k not in taken)


def duplicate(row: LibraryCriterion, *, by: User) -> LibraryCriterion:
    """Return a new criterion of the team with the same content."""
    copied = LibraryCriterion()
    set_content(copied, content_of(row) | {"name": f"{row.name[:110]} (copy)"})
    return add(copied, by=by, reason=f"Copied from {row}")


def set_state(row: LibraryCriterion, state: LibraryState, *, by: User) -> None:
    """Retire a criterion, or restore it. Copies in rubrics stay."""
    row.state = state
    save_signed(row, by, "Retired" if state == LibraryState.RETIRED else "Restored")


@transaction.atomic
def decide_proposal(row: LibraryCriterion, *, takes_over: bool, by: User) -> None:
    """Take over the content that a release proposes, or dismiss it.

    Raises:
        Refused: There is no proposal.
    """
    row = LibraryCriterion.objects.select_for_update().get(pk=row.pk)
    if row.proposal is None:
        raise Refused([f"There is no proposal for {row}."])
    if takes_over:
        set_content(row, row.proposal)
    row.shipped_digest, row.proposal = digest(row.proposal), None
    save_signed(
        row,
        by,
        "Content of the release taken over" if takes_over else "",
        update_fields=None if takes_over else ["shipped_digest", "proposal"],
    )


def options_of(row: LibraryCriterion) -> Scale | None:
    """Return its scale; None if it is pairwise."""
    return from_json(row.scale) if row.scale is not None else None


def update_from(row: LibraryCriterion, content: Mapping[str, Any], *, by: User, why: str) -> bool:
    """Set content by its names in JSON; return True if that made a new version.

    Raises:
        ValidationError: The content is not valid.
    """
    before = content_of(row)
    set_content(row, content)
    row.full_clean()
    if content_of(row) == before:
        return False
    save_signed(row, by, why)
    return True
