"""Many annotators at once on one queue: nothing is given twice, and nothing is lost."""

import time
from collections import Counter
from collections.abc import Callable
from random import Random
from threading import Thread

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, connections
from django.utils import timezone

from evalhub.models import User
from runs.models import EvaluationKind, HumanEvaluation
from runs.review.assignment_actions import skip, undo
from runs.review.models import Assignment, AssignmentState, Queue, Skip
from runs.review.reservations import take
from tests.factories import make_user
from tests.runs.review.rows import filled, review

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.load]

WITHIN_S = 120
MOST_SKIPS = 3


def option_for(assignment: Assignment) -> str:
    """Return the verdict that every reviewer of the item gives."""
    return str(assignment.item_id % 2)


class Annotator:
    """Works through a queue as people do: skips now and then, undoes, and loses their tab.

    `done` are the places that they were told are submitted.
    """

    def __init__(self, person: User, queue: Queue, until: Callable[[], bool]) -> None:
        self.person, self.queue, self.is_over = person, queue, until
        self.random = Random(person.pk)
        self.done: Counter[int] = Counter()
        self.acts: Counter[str] = Counter()
        self.problems: list[BaseException] = []

    def run(self) -> None:
        try:
            while not self.is_over():
                assignment = take(self.queue, by=self.person)
                if assignment is None:
                    time.sleep(0.05)
                else:
                    self.act_on(assignment)
        except Exception as problem:
            self.problems.append(problem)
        finally:
            connections.close_all()

    def act_on(self, assignment: Assignment) -> None:
        draw = self.random.random()
        if draw < 0.05 and self.acts["skip"] < MOST_SKIPS:
            self.acts["skip"] += 1
            skip(assignment, "Not my field.", by=self.person)
        elif draw < 0.1:
            self.acts["crash"] += 1
            self.lose(assignment)
        else:
            self.submit(assignment)
            if draw > 0.93:
                self.change_their_mind()

    def lose(self, assignment: Assignment) -> None:
        """The tab is gone, and so is the time: anybody may have the place.

        Who comes back after a while may still submit it, unless somebody took it.
        """
        mine = Assignment.objects.filter(
            pk=assignment.pk, annotator=self.person, state=AssignmentState.RESERVED
        )
        mine.update(reserved_until=timezone.now())
        time.sleep(0.02)
        if self.random.random() < 0.5:
            try:
                self.submit(assignment)
            except ValidationError as error:
                if error.code != "lost":
                    raise

    def submit(self, assignment: Assignment) -> None:
        review(assignment, option_for(assignment))
        self.done[assignment.pk] += 1

    def change_their_mind(self) -> None:
        self.acts["undo"] += 1
        assignment = undo(self.queue, by=self.person)
        assert assignment is not None
        if assignment.state == AssignmentState.RESERVED and assignment.pk in self.done:
            self.done[assignment.pk] -= 1
            self.submit(assignment)


def test_annotators_at_once_do_every_place_once():
    people, items = (8, 200) if connection.vendor == "postgresql" else (4, 40)
    queue = filled(items, reviewers=2)
    end = time.monotonic() + WITHIN_S
    submitted = Assignment.objects.filter(queue=queue, state=AssignmentState.SUBMITTED)

    def is_over() -> bool:
        return time.monotonic() > end or submitted.count() == 2 * items

    annotators = [Annotator(make_user("annotator"), queue, is_over) for _ in range(people)]
    threads = [Thread(target=annotator.run) for annotator in annotators]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [problem for annotator in annotators for problem in annotator.problems] == []
    # Exactly two reviews of each item, by two people, and those who gave them know of them.
    assert submitted.count() == 2 * items
    assert submitted.values("item", "annotator").distinct().count() == 2 * items
    told = {(pk, one.person.pk) for one in annotators for pk, n in one.done.items() if n == 1}
    assert told == set(submitted.values_list("pk", "annotator"))
    # As many evaluations stand, each of a person and an item, and all results have their score.
    kinds = Counter(HumanEvaluation.objects.values_list("kind", flat=True))
    undone = kinds[EvaluationKind.WITHDRAWAL]
    assert kinds[EvaluationKind.EVALUATION] - undone == 2 * items
    assert undone == sum(annotator.acts["undo"] for annotator in annotators)
    passed = queue.items.values_list("pk", "result__passed")
    assert all(is_passed == bool(pk % 2) for pk, is_passed in passed)
    # All that can go wrong has happened.
    acts = sum((annotator.acts for annotator in annotators), Counter[str]())
    assert {"skip", "undo", "crash"} <= acts.keys()
    assert Skip.objects.count() == acts["skip"]
