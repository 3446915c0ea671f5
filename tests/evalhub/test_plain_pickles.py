import os
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ, Task
from django_q.signing import BadSignature, SignedPackage
from picklefield.fields import dbsafe_encode

from evalhub.values.plain_pickles import UNREADABLE

pytestmark = pytest.mark.django_db


class Harm:
    def __reduce__(self) -> Any:
        return os.mkdir, (os.environ["HARM"],)


def make_task(**fields: Any) -> Task:
    now = timezone.now()
    return Task.objects.create(
        id="1", name="one", func="f", started=now, stopped=now, success=True, **fields
    )


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("HARM", str(tmp_path / "harm"))
    return tmp_path / "harm"


@pytest.mark.parametrize("column", ["result", "args", "kwargs"])
def test_a_harmful_pickle_of_a_task_is_not_loaded(place, column):
    make_task(result="done")
    harm = str(dbsafe_encode(Harm(), copy=False))
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE django_q_task SET {column} = %s", [harm])

    assert getattr(Task.objects.get(), column) == UNREADABLE
    assert not place.exists()


def test_plain_results_are_read():
    value = {"n": [1, 2.5, None, "ä", (True,)]}
    make_task(result=value, args=(1,), kwargs={"a": "b"})
    task = Task.objects.get()
    assert (task.result, task.args, task.kwargs) == (value, (1,), {"a": "b"})


def test_a_queued_task_is_loaded_only_with_our_signature(place, settings):
    genuine = SignedPackage.dumps(Harm())
    forged = genuine[:-4] + ("AAAA" if genuine[-4:] != "AAAA" else "BBBB")
    with pytest.raises(BadSignature):
        SignedPackage.loads(forged)
    row = OrmQ.objects.create(key="evalhub", payload=forged, lock=timezone.now())
    assert row.task == {"id": "*BadSignature"}
    assert not place.exists()
