from typing import Any

import pytest

from evalhub.values.shared_json import as_text, parser, with_shared
from runs.models import Run
from tests.factories import make_run

pytestmark = pytest.mark.django_db

PARAMS: tuple[dict[str, Any], ...] = ({"b": 1, "a": [None, "ä"]}, {"b": 1, "a": [None, "ä"]}, {})


def test_rows_with_equal_json_share_one_object(django_assert_num_queries):
    made = [make_run(params=params) for params in PARAMS]

    with django_assert_num_queries(1):
        rows = with_shared(Run.objects.order_by("pk").only("label"), "params")
        found = [row.params for row in rows]

    assert [row.pk for row in rows] == [run.pk for run in made]
    assert found == list(PARAMS)
    assert found[0] is found[1]


def test_text_of_a_column_is_parsed_once_and_null_stays_null():
    make_run(params=PARAMS[0])
    parse = parser()

    (text,) = Run.objects.values_list(as_text("params"), flat=True)

    assert parse(text) == PARAMS[0]
    assert parse(text) is parse(text)
    assert parse(None) is None
