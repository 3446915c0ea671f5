"""Sent sealed tests are recorded once for each test, endpoint and day."""

import asyncio
from datetime import date

import pytest

from evalhub.access.sealing.exposures import Sending, Sendings, record
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.models import CallRole
from evalhub.models import Exposure
from tests.factories import make_model


def at(api_base):
    return Endpoint(language_model_id=1, name="m", litellm_model="openai/m", api_base=api_base)


OUTSIDE = at("https://api.example.org/v1")
HERE = at("http://127.0.0.1:8000/v1")


class Notebook:
    """Stands for the database's thread: keeps what each call was to write."""

    def __init__(self):
        self.calls = []
        self.fails = 0

    async def __call__(self, function, rows):
        await asyncio.sleep(0)
        if self.fails:
            self.fails -= 1
            raise ConnectionError
        self.calls.append([sending.test for sending in rows])


def noted(*notes, notebook=None):
    """Return the rows saved after noting these (tests, endpoint) one after the other."""
    notebook = notebook or Notebook()

    async def note_all():
        sendings = Sendings(notebook)
        for tests, endpoint in notes:
            await sendings.note(tests, endpoint, CallRole.JUDGE)

    asyncio.run(note_all())
    return notebook.calls


def test_the_same_is_written_once():
    assert noted(([1], OUTSIDE), ([1], OUTSIDE), ([1, 2], OUTSIDE)) == [[1], [2]]


def test_another_endpoint_is_another_exposure():
    other = at("https://api.example.org:444/v1")
    assert noted(([1], OUTSIDE), ([1], other)) == [[1], [1]]


def test_the_trusted_network_and_open_tests_write_nothing():
    assert noted(([1], HERE), ([], OUTSIDE)) == []


def test_calls_that_wait_at_once_are_written_together():
    notebook = Notebook()

    async def all_at_once():
        sendings = Sendings(notebook)
        notes = (sendings.note([n], OUTSIDE, CallRole.JUDGE) for n in range(5))
        await asyncio.gather(*notes)

    asyncio.run(all_at_once())

    assert sorted(test for call in notebook.calls for test in call) == [0, 1, 2, 3, 4]
    assert len(notebook.calls) <= 2


def test_nothing_goes_out_unwritten_where_the_database_fails():
    notebook = Notebook()
    notebook.fails = 1

    async def twice():
        sendings = Sendings(notebook)
        with pytest.raises(ConnectionError):
            await sendings.note([1], OUTSIDE, CallRole.JUDGE)
        assert notebook.calls == []
        await sendings.note([1], OUTSIDE, CallRole.JUDGE)

    asyncio.run(twice())

    assert notebook.calls == [[1]]


@pytest.mark.django_db
def test_what_another_process_wrote_is_left_as_it_is():
    model = make_model()
    sending = Sending(7, "api.example.org:443", date(2026, 1, 2))
    first, later = ({"language_model_id": model.pk, "purpose": role} for role in ("candidate", "j"))
    record({sending: first})
    record({sending: later, sending._replace(test=8): later})

    rows = Exposure.objects.order_by("test").values_list("test", "purpose")
    assert list(rows) == [(7, "candidate"), (8, "j")]
