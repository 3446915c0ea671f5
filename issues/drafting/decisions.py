"""Decisions on drafts: accept as a test, reject, edit, and undo."""

from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from evalhub.access.models import User
from evalhub.history import save_signed
from evalhub.llm.content.content_parts import content_text
from evalhub.models import ItemState
from evalhub.refusals import Refused
from issues.drafting.destinations import Destination, destination_of
from issues.drafting.settings import DraftingSettings
from issues.lifecycle.undoable_drafts import delete_untouched
from issues.models import Author, Decision, Draft, Origin, Test
from issues.rubrics.editing import add_rows
from issues.rubrics.siblings import judge_settings_of, rubric_of, siblings_of
from issues.triage.actions import taking_issue

MADE = "Accepted as draft {}"
WINNERS = ("first", "second", "tie")
MAX_TEXT = 100_000


@dataclass(frozen=True)
class Texts:
    """The texts of a draft as a person leaves them; None keeps one as it is."""

    prompt: str | None = None
    answer: str | None = None
    second_answer: str | None = None


NO_EDITS = Texts()


def expectations_of(draft: Draft) -> list[str]:
    """Return what a person can expect of a draft: the options of its criterion, or the winner."""
    if draft.is_pair:
        return list(WINNERS)
    chosen = DraftingSettings.model_validate(draft.generation.settings)
    return [option.label for option in chosen.options]


@transaction.atomic
def accept(draft: Draft, *, expected: str, by: User, texts: Texts = NO_EDITS) -> Test | Destination:
    """Make a draft test of it, with origin synthetic, or hand it to the batch's destination.

    An answer that passes by what is expected becomes the reference, one that fails the flagged
    answer; without an expectation the test has the input alone.

    Raises:
        Refused: It is decided, was not written, or belongs to no issue that takes tests.
    """
    draft = _open(draft)
    if expected and expected not in expectations_of(draft):
        offered = ", ".join(expectations_of(draft))
        raise Refused(
            [f"{expected!r} cannot be expected. Choose one of {offered}."], field="expected"
        )
    _edit(draft, texts)
    destination = destination_of(draft.generation)
    made: Test | Destination
    if destination is not None:
        destination.take(draft, expected, by=by)
        made = destination
    else:
        made = draft.test = _test_of(draft, expected, by)
    draft.expected = expected
    _decide(draft, Decision.ACCEPTED, by)
    return made


def _test_of(draft: Draft, expected: str, by: User) -> Test:
    issue = draft.generation.issue
    if issue is None:
        raise Refused(["This batch belongs to no issue, so that it cannot become tests."])
    issue = taking_issue(issue)
    sealed = draft.generation.sources.filter(sealed=True).exists()
    test = Test(
        issue=issue,
        messages=draft.messages,
        context=draft.context,
        origin=Origin.GENERATED,
        author=by,
        sealed=sealed,
        reference_by=Author.MODEL,
    )
    good, bad = answers_by_expectation(draft, expected)
    test.reference, test.flagged_answer = good, bad
    rubric = _judged_like_sibling(test, draft, by)
    try:
        test.full_clean()
    except ValidationError as error:
        raise Refused(error.messages) from error
    save_signed(test, by, MADE.format(draft.pk))
    add_rows(test, rubric, by=by, reason=MADE.format(draft.pk))
    return test


def answers_by_expectation(draft: Draft, expected: str) -> tuple[str, str]:
    """Return the answer that passes and the one that fails; "" for none."""
    if draft.is_pair:
        pair = (draft.answer, draft.second_answer)
        return {"first": pair, "second": pair[::-1]}.get(expected, ("", ""))
    scale = DraftingSettings.model_validate(draft.generation.settings).scale
    option = scale.option_of(expected) if expected else None
    if option is None:
        return "", ""
    return (draft.answer, "") if scale.passes(option.value) else ("", draft.answer)


@transaction.atomic
def edit(draft: Draft, texts: Texts) -> Draft:
    """Change the texts of an open draft."""
    draft = _open(draft)
    _edit(draft, texts)
    draft.save(update_fields=["messages", "answer", "second_answer", "was_edited"])
    return draft


@transaction.atomic
def reject(draft: Draft, *, by: User) -> None:
    _decide(_open(draft), Decision.REJECTED, by)


@transaction.atomic
def undo_last(draft_ids: list[int], *, by: User) -> Draft:
    """Undo this user's last decision on these drafts, and delete the test if nobody used it.

    Raises:
        Refused: There is none, or the test was changed or used since.
    """
    mine = Draft.objects.filter(pk__in=draft_ids, decided_by=by)
    last = mine.select_for_update(of=("self",)).order_by("-decided_at", "-pk").first()
    if last is None:
        raise Refused(["You have no decision to undo here."])
    if last.test is not None and not delete_untouched(
        last.test, f"Undone: draft {last.pk}", by=by, besides=("criteria", "draft")
    ):
        raise Refused([f"{last.test} was changed or used since. So accepting it cannot be undone."])
    destination = destination_of(last.generation)
    if destination is not None and last.decision == Decision.ACCEPTED:
        destination.give_back(last, by=by)
    last.decision, last.expected, last.test = Decision.PROPOSED, "", None
    last.decided_by = last.decided_at = None
    last.save(update_fields=["decision", "expected", "test", "decided_by", "decided_at"])
    return last  # type: ignore[no-any-return]


def _open(draft: Draft) -> Draft:
    """Return the draft, locked for this transaction.

    Raises:
        Refused: Somebody has decided on it, or there is no text yet.
    """
    rows = Draft.objects.select_for_update(of=("self",)).select_related("generation__issue")
    current: Draft = rows.get(pk=draft.pk)
    if current.decision != Decision.PROPOSED:
        who = f" by {current.decided_by}" if current.decided_by else ""
        raise Refused([f"Draft {current.pk} was {current.decision}{who} already."])
    if current.state != ItemState.DONE:
        raise Refused([f"Draft {current.pk} has no text yet."])
    return current


def _edit(draft: Draft, texts: Texts) -> None:
    for name in ("answer", "second_answer"):
        text = getattr(texts, name)
        if text is None or _same(text, getattr(draft, name)):
            continue
        if not text.strip():
            raise Refused(["An answer is empty. Reject the draft, or write one."], field=name)
        setattr(draft, name, text.strip()[:MAX_TEXT])
        draft.was_edited = True
    if texts.prompt is not None and not _same(texts.prompt, prompt_of(draft)):
        if not texts.prompt.strip():
            raise Refused(["The input is empty: write what the model is asked."], field="prompt")
        draft.messages = [{"role": "user", "content": texts.prompt.strip()[:MAX_TEXT]}]
        draft.was_edited = True


def prompt_of(draft: Draft) -> str:
    return content_text(draft.messages[-1]["content"]) if draft.messages else ""


def _same(one: str, other: str) -> bool:
    """Return whether texts differ in line ends only, as browsers change them."""
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()


def _decide(draft: Draft, decision: Decision, by: User) -> None:
    draft.decision, draft.decided_by, draft.decided_at = decision, by, timezone.now()
    draft.save()


def _judged_like_sibling(test: Test, draft: Draft, by: User) -> list[dict[str, object]]:
    """Give a new test the judge settings of the batch's test, or of another; return its rubric."""
    generation = draft.generation
    others = siblings_of(test.issue, by, beside=test)
    sibling = generation.test or next(iter(others), None)
    chosen = DraftingSettings.model_validate(generation.settings)
    if chosen.template is None and sibling is not None and sibling.issue_id == test.issue_id:
        for name, value in judge_settings_of(sibling).items():
            setattr(test, name, value)
        return rubric_of(sibling)
    test.template_id, test.guidelines = chosen.template, chosen.description
    return []
