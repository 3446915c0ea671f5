"""The pages of review queues."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalhub.models import User
from runs.models import HumanEvaluation, Judgment, Result
from runs.review.models import Assignment, AssignmentState, Correction, Queue, ReviewItem, Skip
from runs.review.reservations import take
from tests.factories import first_result, make_run, make_test, make_user
from tests.reports.judged_runs import answer, judged
from tests.runs.review.large_queue import large_queue_of
from tests.runs.review.rows import expire, filled, make_queue, put, review
from tests.runs.rubric_runs import rubric_run

pytestmark = pytest.mark.django_db

WHY = "I would have said the same."
SECRET_WORDS = "the judge's own words"


@pytest.fixture
def me() -> User:
    return make_user("annotator", username="ann")


@pytest.fixture
def mine(me) -> Client:
    return logged_in(me)


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def url(page: str, queue: Queue) -> str:
    return reverse(f"admin:review_queue_{page}", args=[queue.pk])


def act(client: Client, queue: Queue, name: str, **fields: str):
    """Post an action as the page's script does."""
    sent = {"act": name, **{key.replace("__", ":"): text for key, text in fields.items()}}
    answer = client.post(url("act", queue), sent, headers={"accept": "application/json"})
    assert answer.status_code == 200, answer.content
    return answer.json()


def assignment_in(html: str) -> str:
    found: list[str] = re.findall(r'data-assignment="(\d*)"', html)
    assert len(found) == 1
    return found[0]


def at_work(client: Client, queue: Queue) -> str:
    """The place that the work page gives, and its HTML."""
    return client.get(url("work", queue)).content.decode()


# Working -----------------------------------------------------------------------------------------


def test_a_verdict_is_submitted_and_the_next_item_comes_with_the_answer(mine, me):
    queue = filled(2)
    first = assignment_in(at_work(mine, queue))
    assert Assignment.objects.get(annotator=me).pk == int(first)
    assert assignment_in(at_work(mine, queue)) == first  # it is given again
    sent = {"option": "1", "seconds": "12", "note": "Look here.", "correction": "It is 4."}

    came = act(mine, queue, "submit", assignment=first, **sent)

    assignment = Assignment.objects.get(pk=first)
    assert (assignment.state, assignment.seconds, assignment.note) == (
        AssignmentState.SUBMITTED,
        12,
        "Look here.",
    )
    assert HumanEvaluation.objects.get().annotator == me
    assert Correction.objects.get().text == "It is 4."
    second = assignment_in(came["html"])
    assert second not in ("", first)
    assert came["url"] == f"{url('work', queue)}?assignment={second}"
    assert "Saved. Your verdict: passes (1)." in came["announce"]


def test_without_scripts_the_form_works_as_well(mine):
    queue = filled(2)
    first = assignment_in(at_work(mine, queue))

    def send(**fields):
        sent = {"act": "submit", "assignment": first, "option": "0", "note": "typed"}
        return mine.post(url("act", queue), sent | fields, follow=True).content.decode()

    refused = send()
    assert "Enter a reason for overriding" in refused
    assert "typed</textarea>" in refused
    html = send(agree="1")  # outranks the option that was chosen
    assert assignment_in(html) != first
    assert "Saved. Your verdict: passes (1)." in html


def test_refusal_names_the_fields_and_keeps_the_input(mine):
    queue = filled(1)
    html = at_work(mine, queue)
    # An option that overrules the judges is marked as one that wants a reason.
    marked = re.findall(r'value="(\w+)" data-key="\w" data-place="\d"( data-reason)?', html)
    assert marked == [("1", ""), ("0", " data-reason")]
    sent = {"option": "0", "note": "typed", "correction": "Five."}

    came = act(mine, queue, "submit", assignment=assignment_in(html), **sent)

    (problem,) = came["problems"]
    assert problem["field"] == "justification"
    assert HumanEvaluation.objects.count() == 0
    again = at_work(mine, queue)
    assert "typed</textarea>" in again
    assert "Five.</textarea>" in again
    assert re.search(r'value="0"[^>]*checked', again)


def test_criteria_are_judged_one_by_one_and_checks_are_not(mine):
    queue = make_queue(scope="criteria")
    points = [{"text": "Is polite."}, {"text": "Is short."}]
    check = {"check_name": "contains", "arguments": {"text": "Four"}}
    votes = {"Is polite.": [1], "Is short.": [1], "contains": [1]}
    put(queue, first_result(rubric_run([*points, check], votes)))
    html = at_work(mine, queue)
    keys = re.findall(r'data-point="(\w*)"', html)
    assert len(keys) == 2
    assert "" not in keys

    fields = {f"option__{key}": "FULLY_MET" for key in keys}
    came = act(mine, queue, "submit", assignment=assignment_in(html), **fields)

    assert "Your verdict: criteria judged: 2." in came["announce"]
    assert HumanEvaluation.objects.exclude(criterion__key="").count() == 2


def test_progress_of_queue_and_reviewer_is_shown_to_them_and_managers(mine, chief):
    queue = filled(6)
    take(queue, by=make_user("annotator"))
    assignment = assignment_in(at_work(mine, queue))
    for _ in range(3):
        came = act(mine, queue, "submit", assignment=assignment, option="1", seconds="90")
        assignment = assignment_in(came["html"])

    words = " ".join(re.sub(r"<[^>]+>", " ", came["html"]).split())

    assert "3 of 6 reviewed" in words
    assert "1 reserved by others" in words
    assert "Done today 3 Done in total 3 Per hour 40" in words
    back = act(mine, queue, "earlier", assignment=assignment)["html"]
    assert "1 reserved by others" in back  # one's own open item is not among them
    html = chief.get(url("overview", queue)).content.decode()
    row = re.search(r'<th scope="row">ann</th>(.*?)</tr>', html).group(1)
    assert re.findall(r">(\d+)</td>", row) == ["3", "3", "1", "0", "0", "40"]


# Drafts and reservations -------------------------------------------------------------------------


def test_a_draft_is_there_again(mine):
    queue = filled(1)
    assignment = assignment_in(at_work(mine, queue))
    # A field whose name no database could keep is left out.
    sent = {"assignment": assignment, "justification": WHY, "option__\0": "1"}

    assert act(mine, queue, "draft", **sent) == {"is_yours": True}

    assert Assignment.objects.get(pk=assignment).draft == {"justification": WHY}
    html = at_work(mine, queue)
    assert WHY in html
    assert "data-keys-off" not in html
    assert act(mine, queue, "keys", off="1") == {"off": True}
    assert "data-keys-off" in at_work(mine, queue)
    assert "data-keys-off" not in at_work(logged_in(make_user("annotator")), queue)


def test_a_place_is_kept_while_somebody_looks_and_lost_once_another_took_it(mine):
    queue = filled(1)
    assignment = Assignment.objects.get(pk=assignment_in(at_work(mine, queue)))
    place = {"assignment": str(assignment.pk)}
    expire(assignment)
    assert act(mine, queue, "renew", **place) == {"is_yours": True}
    until = Assignment.objects.get(pk=assignment.pk).reserved_until
    assert until > assignment.reserved_until.replace(year=2000)

    expire(assignment)
    take(queue, by=make_user("annotator"))

    assert act(mine, queue, "draft", **place, note="x") == {"is_yours": False}
    assert act(mine, queue, "renew", **place) == {"is_yours": False}
    came = act(mine, queue, "submit", **place, option="1")
    assert came["lost"]
    assert came["problems"]


def test_stopping_gives_the_item_to_others(mine, me):
    queue = filled(1)
    assignment = assignment_in(at_work(mine, queue))

    came = act(mine, queue, "leave", assignment=assignment)

    assert came == {"go": url("overview", queue)}
    other = take(queue, by=make_user("annotator"))
    assert other is not None


# Back and forth ----------------------------------------------------------------------------------


def test_earlier_items_are_looked_at_again_and_left_forward(mine):
    queue = filled(3)
    first = assignment_in(at_work(mine, queue))
    second = assignment_in(act(mine, queue, "submit", assignment=first, option="1")["html"])
    third = assignment_in(act(mine, queue, "submit", assignment=second, option="1")["html"])

    one = act(mine, queue, "earlier", assignment=third)
    two = act(mine, queue, "earlier", assignment=assignment_in(one["html"]))
    end = act(mine, queue, "earlier", assignment=assignment_in(two["html"]))

    assert [assignment_in(came["html"]) for came in (one, two, end)] == [second, first, first]
    assert "No earlier submissions" in end["announce"]
    forward = act(mine, queue, "later", assignment=first)
    assert assignment_in(forward["html"]) == second
    assert assignment_in(act(mine, queue, "later", assignment=second)["html"]) == third


def test_an_earlier_verdict_is_taken_back_and_changed(mine, me):
    queue = filled(3)
    first = assignment_in(at_work(mine, queue))
    assert "Nothing to undo" in act(mine, queue, "undo", assignment=first)["announce"]
    second = assignment_in(
        act(mine, queue, "submit", assignment=first, option="1", note="mine")["html"]
    )
    third = assignment_in(act(mine, queue, "submit", assignment=second, option="1")["html"])

    last = act(mine, queue, "undo", assignment=third)
    assert assignment_in(last["html"]) == second  # the last action, where nothing else is open
    assert Assignment.objects.get(pk=second).state == AssignmentState.RESERVED
    came = act(mine, queue, "undo", assignment=first)

    assert assignment_in(came["html"]) == first
    assert "mine</textarea>" in came["html"]
    act(mine, queue, "submit", assignment=first, option="0", justification=WHY)
    kinds = HumanEvaluation.objects.filter(result=Assignment.objects.get(pk=first).item.result)
    assert list(kinds.order_by("pk").values_list("kind", "option")) == [
        ("evaluation", "1"),
        ("withdrawal", ""),
        ("evaluation", "0"),
    ]


def test_a_skip_wants_a_reason_and_is_undone(mine, me):
    queue = filled(2)
    first = assignment_in(at_work(mine, queue))
    assert (
        act(mine, queue, "skip", assignment=first, reason=" ")["problems"][0]["field"] == "reason"
    )

    second = act(mine, queue, "skip", assignment=first, reason="Not my subject.", note="kept")

    assert assignment_in(second["html"]) != first
    assert Skip.objects.get().reason == "Not my subject."
    back = act(mine, queue, "undo", assignment=assignment_in(second["html"]))
    assert Skip.objects.get().undone_at is not None
    assert "kept</textarea>" in back["html"]


def test_to_submit_or_skip_twice_does_no_harm(mine):
    queue = filled(3)
    first = assignment_in(at_work(mine, queue))
    second = assignment_in(act(mine, queue, "submit", assignment=first, option="1")["html"])
    again = act(mine, queue, "submit", assignment=first, option="1")
    third = assignment_in(act(mine, queue, "skip", assignment=second, reason="Unclear.")["html"])
    skipped = act(mine, queue, "skip", assignment=second, reason="Unclear.")

    assert (assignment_in(again["html"]), assignment_in(skipped["html"])) == (second, third)
    assert (HumanEvaluation.objects.count(), Skip.objects.count()) == (1, 1)


def test_another_verdict_in_a_second_window_is_kept_and_replaces_only_when_asked(mine):
    queue = filled(2)
    first = assignment_in(at_work(mine, queue))
    act(mine, queue, "submit", assignment=first, option="0", justification="Wrong.")

    def send(scripts=True, **more):
        sent = {"act": "submit", "assignment": first, "option": "1", "justification": "Right."}
        accept = {"accept": "application/json"} if scripts else {}
        answer = mine.post(url("act", queue), sent | more, headers=accept, follow=True)
        return answer.json()["html"] if scripts else answer.content.decode()

    for page in (send(), send(scripts=False)):
        assert assignment_in(page) == first
        assert "Saved." not in page
        assert "fails (0)" in page
        assert "Right.</textarea>" in page
        assert re.search(r'value="1"[^>]*checked', page)
    assert [row.option for row in HumanEvaluation.objects.all()] == ["0"]

    assert "Saved. Your verdict: passes (1)." in send(replaces="1")
    assert Result.objects.get(pk=Assignment.objects.get(pk=first).item.result_id).passed is True
    assert Assignment.objects.get(pk=first).draft["justification"] == "Right."


def test_sent_back_item_comes_first_with_the_note(mine, me):
    queue = filled(2)
    first = assignment_in(at_work(mine, queue))
    act(mine, queue, "submit", assignment=first, option="1")
    chief = logged_in(make_user("adjudicator"))
    form = {"act": "send_back", "assignment": first, "note": "Read the reference again."}

    assert chief.post(url("item", queue), form).status_code == 302

    html = mine.get(url("work", queue)).content.decode()
    taken = assignment_in(html)
    act(mine, queue, "leave", assignment=taken)
    html = at_work(mine, queue)
    assert assignment_in(html) == first
    assert "Read the reference again." in html


# Nothing left ------------------------------------------------------------------------------------


def test_when_nothing_is_left_the_page_says_why(mine, me):
    queue, empty = filled(2), make_queue()
    other = take(queue, by=make_user("annotator"))
    only = assignment_in(at_work(mine, queue))

    html = act(mine, queue, "submit", assignment=only, option="1")["html"]

    for said in ("1 is reserved by others", "You reviewed 1.", "data-awaits"):
        assert said in html
    review(other)
    assert "Queue complete" in at_work(mine, queue)
    assert "Queue empty" in at_work(mine, empty)
    Queue.objects.update(state="closed")
    assert "Queue closed" in at_work(mine, queue)


# Blindness ---------------------------------------------------------------------------------------


def blind_queue(**fields) -> Queue:
    run = judged([1.0, 1.0, 0.0], label="the secret release", tests=[make_test("Which day?")])
    Judgment.objects.update(justification=SECRET_WORDS)
    queue = make_queue(**({"blind": "all"} | fields))
    put(queue, first_result(run))
    ReviewItem.objects.update(
        reasons=[{"key": "judges_disagree", "description": "Two judges pass it"}]
    )
    return queue


def hidden_words(queue: Queue) -> list[str]:
    result = queue.items.get().result
    judges = [party["name"] for party in result.run.judge_runs.get().jury["judges"]]
    page = reverse("admin:runs_result_change", args=[result.pk])
    model = result.run.model_name
    description = ["2 of 3 pass", "Two judges pass it", SECRET_WORDS, "0.67", "the secret release"]
    return [*description, f">{model}<", page, *judges]


def test_a_blind_item_says_nothing_of_judges_model_and_reasons_before_the_verdict(mine):
    queue = blind_queue()
    html = at_work(mine, queue)
    assert "Which day?" in html
    assert [word for word in hidden_words(queue) if word in html] == []
    Queue.objects.update(blind="none")
    told = at_work(mine, queue)
    assert [word for word in ("2 of 3 pass", "Two judges pass it", SECRET_WORDS) if word in told]
    assert queue.items.get().result.run.model_name in told
    Queue.objects.update(blind="all")
    Assignment.objects.update(state=AssignmentState.OPEN, annotator=None, reserved_until=None)
    reader = logged_in(make_user("annotator"))

    given = assignment_in(at_work(reader, queue))
    came = act(reader, queue, "submit", assignment=given, option="0")

    assert "Your verdict: fails (0). Judges: 2 of 3 pass." in came["html"]
    result = queue.items.get().result
    assert reverse("admin:runs_result_change", args=[result.pk]) in came["html"]
    assert HumanEvaluation.objects.get().blind


def test_a_blind_item_hides_that_a_check_found_its_language(mine):
    check = {"text": "", "check_name": "language", "arguments": {"language": "de"}}
    queue = make_queue(blind="all")
    put(queue, first_result(rubric_run([check], {"language": [1]})))

    assert 'lang="de"' not in at_work(mine, queue)
    Queue.objects.update(blind="none")
    assert 'lang="de"' in at_work(mine, queue)


@pytest.mark.parametrize("blind", ["all", "none"])
def test_verdicts_of_others_are_hidden_until_ones_own_is_in(mine, blind):
    queue = blind_queue(reviewers=2, blind=blind)
    result = queue.items.get().result
    other = make_user("annotator", username="somebody-else")
    review(take(queue, by=other), "0", "An opinion of theirs.")
    pages = (
        reverse("admin:runs_result_change", args=[result.pk]),
        f"/reports/runs/{result.run_id}/rows/?outcome=failed&outcome=passed",
        f"/reports/compare/answers/{result.pk}/{result.pk}/",
        "/reports/overrides/?only=all",
    )

    def shown(*addresses):
        text = "".join(mine.get(url, follow=True).content.decode() for url in addresses)
        return "An opinion of theirs." in text

    html = at_work(mine, queue)
    at = assignment_in(html)
    assert "somebody-else" not in html
    assert not shown(url("work", queue), *pages)

    act(mine, queue, "submit", assignment=at, option="1")
    assert shown(f"{url('work', queue)}?assignment={at}")
    assert shown(*pages)


# Untrusted text, sealed text, rights -------------------------------------------------------------


def test_hostile_text_stays_text(mine, me):
    run = make_run(make_test("<script>alert(1)</script>", reference="<img src=x onerror=alert(2)>"))
    answer(run, "<script>alert(3)</script>")
    queue = make_queue(instructions="<script>alert(4)</script>")
    put(queue, first_result(run))
    act(
        mine,
        queue,
        "draft",
        assignment=assignment_in(at_work(mine, queue)),
        note="</textarea><script>5",
    )

    html = at_work(mine, queue)

    assert re.findall(r"<script>|<img src=x|onerror=alert\(2\)>", html) == []


def test_sealed_test_needs_the_right_to_read_it():
    queue = filled(1)
    test = queue.items.get().result.test
    type(test).objects.filter(pk=test.pk).update(sealed=True)
    person = make_user("viewer")
    person.user_permissions.add(*rights("review_results", "view_queue"))

    html = logged_in(person).get(url("work", queue)).content.decode()

    assert "What is 2 + 2?" not in html
    assert assignment_in(html) == ""


def rights(*codenames: str):
    from django.contrib.auth.models import Permission

    return Permission.objects.filter(codename__in=codenames)


def test_assignments_of_others_cannot_be_opened_or_submitted(mine, me):
    queue = filled(2)
    theirs = take(queue, by=make_user("annotator"))

    html = mine.get(f"{url('work', queue)}?assignment={theirs.pk}").content.decode()

    assert assignment_in(html) != str(theirs.pk)
    assert act(mine, queue, "submit", assignment=str(theirs.pk), option="1")["lost"]
    theirs.refresh_from_db()
    assert theirs.state == AssignmentState.RESERVED


def test_an_annotator_sees_how_far_the_queue_is_but_not_its_items(mine):
    queue = blind_queue()

    html = mine.get(url("overview", queue)).content.decode()

    assert "of 1 reviewed" in html
    assert "Two judges pass it" not in html
    assert "20%" in mine.get(url("change", queue)).content.decode()
    unknown = mine.post(url("act", queue), {"act": "<b>dance"})
    assert (unknown.status_code, unknown["content-type"][:10]) == (400, "text/plain")


# Running a queue ---------------------------------------------------------------------------------


@pytest.fixture
def chief() -> Client:
    return logged_in(make_user("maintainer", username="chief"))


def test_a_queue_is_made_and_leads_to_adding_runs(chief):
    form = {
        "name": "Release 4",
        "instructions": "",
        "follows": "",
        "reviewers": "2",
        "random_percent": "35",
        "blind": "all",
        "scope": "either",
        "reasoning": "overrides",
        "reserved_minutes": "30",
    }

    answer = chief.post(reverse("admin:review_queue_add"), form)

    queue = Queue.objects.get()
    assert answer["location"] == url("runs", queue)
    assert (queue.random_share, queue.reviewers, queue.created_by.username) == (0.35, 2, "chief")
    assert queue.seed != Queue(seed=0).seed


def test_adding_a_run_has_a_preview(chief, monkeypatch):
    run = judged([1.0, 0.0], [1.0, 1.0], [1.0, 1.0])
    queue = make_queue(random_share=1.0)
    looked = chief.post(url("runs", queue), {"act": "look", "run": run.pk}).content.decode()
    assert "Judges disagree" in looked
    monkeypatch.setattr("runs.review.admin.add_runs.MAX_RUNS", 1)
    two = [run.pk, judged([1.0]).pk]
    page = chief.post(url("runs", queue), {"act": "add", "run": two}).content.decode()
    assert "2 runs are chosen: add at most 1 at a time." in page
    assert ReviewItem.objects.count() == 0
    run.judge_runs.update(state="failed")  # such a run can be reviewed as well

    chief.post(url("runs", queue), {"act": "add", "run": run.pk})

    assert ReviewItem.objects.filter(queue=queue).count() == 3


def test_a_run_leads_to_the_queues_that_it_can_be_reviewed_in(chief, mine):
    run = judged([1.0])
    queue = make_queue(name="Nightly")
    report = chief.get(reverse("reports:run", args=[run.pk])).content.decode()
    choose = reverse("admin:review_queue_choose", args=[run.pk])

    assert choose in report
    html = chief.get(choose).content.decode()
    assert f"{url('runs', queue)}?run={run.pk}" in html
    assert choose not in mine.get(reverse("reports:run", args=[run.pk])).content.decode()


def test_a_queue_is_changed_closed_and_opened_again(chief):
    queue = filled(2)
    page = chief.get(url("change", queue))
    form = {k: v for k, v in page.context["adminform"].form.initial.items() if v is not None}

    chief.post(url("change", queue), {**form, "reviewers": "3", "random_percent": "20"})
    assert queue.assignments.count() == 6
    for act, state in (("close", "closed"), ("open", "open")):
        chief.post(url("state", queue), {"act": act})
        assert Queue.objects.get().state == state
    assert queue.history.count() >= 3


def test_items_are_found_by_reason_state_and_person(chief, me):
    queue = filled(3)
    one, two, _ = queue.items.order_by("position")
    ReviewItem.objects.filter(pk=one.pk).update(
        reasons=[{"key": "flipped", "description": "Failed now"}]
    )
    ReviewItem.objects.filter(pk=two.pk).update(is_random=True)
    review(take(queue, by=me))

    def found(query: str) -> list[int]:
        lines = chief.get(f"{url('overview', queue)}?{query}").context["rows"]
        return [line.item.pk for line in lines]

    assert found("reason=flipped") == [one.pk]
    assert found("reason=random") == [two.pk]
    assert found("state=submitted") == [one.pk]
    assert found(f"annotator={me.pk}") == [one.pk]
    assert len(found("state=open")) == 2
    assert len(found("reason=nonsense&state=x&annotator=y")) == 3


def test_a_skipped_item_is_offered_again(chief, mine, me):
    queue = filled(1)
    act(mine, queue, "skip", assignment=assignment_in(at_work(mine, queue)), reason="Too long.")
    assert "Too long." in chief.get(url("overview", queue)).content.decode()
    assert assignment_in(at_work(mine, queue)) == ""

    chief.post(url("item", queue), {"act": "offer", "skip": Skip.objects.get().pk})

    assert assignment_in(at_work(mine, queue)) != ""


def test_a_certain_item_is_taken_from_the_list(chief):
    queue, admin = filled(3), logged_in(make_user("admin"))
    last = queue.items.order_by("-position")[0]
    assert admin.get(url("delete", queue)).status_code == 200

    answer = chief.post(url("item", queue), {"act": "review", "item": last.pk})

    assert answer["location"].startswith(url("work", queue))
    assert last.assignments.get().state == AssignmentState.RESERVED
    review(last.assignments.get())
    assert admin.get(url("delete", queue)).status_code == 403  # as it has reviews


def test_the_list_shows_how_far_each_queue_is(chief, mine, me):
    page = reverse("admin:review_queue_changelist")
    assert "Create one, then add runs to it" in chief.get(page).content.decode()
    queue = filled(2, name="Nightly")
    review(take(queue, by=me))

    html = mine.get(page).content.decode()

    assert "1 of 2" in html
    assert url("work", queue) in html


# Constant queries --------------------------------------------------------------------------------


def queries_of(call) -> int:
    with CaptureQueriesContext(connection) as seen:
        call()
    return len(seen)


def test_the_pages_take_as_many_queries_with_100000_unreviewed_results(mine, me, chief):
    few, many = large_queue_of(3), large_queue_of(100_000)
    assert many.assignments.filter(state=AssignmentState.OPEN).count() == 100_000

    def counts(queue: Queue) -> dict[str, int]:
        first = assignment_in(at_work(mine, queue))
        send = {"assignment": first, "option": "1", "justification": WHY}
        return {
            "work": queries_of(lambda: at_work(mine, queue)),
            "submit": queries_of(lambda: act(mine, queue, "submit", **send)),
            "next": queries_of(lambda: act(mine, queue, "next")),
            "overview": queries_of(lambda: chief.get(url("overview", queue))),
            "list": queries_of(lambda: mine.get(reverse("admin:review_queue_changelist"))),
        }

    assert counts(many) == counts(few)
