from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from django_q.models import OrmQ

from evalhub.work.queue import MOST_TOKENS, TASK, add_token, is_token_waiting, request_worker


@pytest.mark.django_db(transaction=True)
def test_worker_is_asked_for_when_the_transaction_is_saved():
    with transaction.atomic():
        request_worker()
        assert not is_token_waiting()
    assert is_token_waiting()


@pytest.mark.django_db(transaction=True)
def test_no_worker_is_asked_for_by_what_was_rolled_back():
    with transaction.atomic():
        request_worker()
        transaction.set_rollback(True)
    assert not is_token_waiting()


@pytest.mark.django_db
def test_tokens_do_not_pile_up():
    added = [add_token(TASK) for _ in range(MOST_TOKENS + 5)]
    assert sum(added) == OrmQ.objects.count() == MOST_TOKENS


@pytest.mark.django_db
def test_token_that_a_process_works_on_does_not_wait():
    add_token(TASK)
    OrmQ.objects.update(lock=timezone.now() + timedelta(minutes=10))
    assert not is_token_waiting()
