"""Anonymous ids: random, stable under a seed, and telling nothing."""

import json

import pytest

from reports.summaries.analyst.key import FIRST, Key, Subject, make_key

SUBJECTS = [
    Subject(1, 10, "gpt-4o", "OpenAI", "Be brief.", 0.7),
    Subject(2, 10, "gpt-4o", "OpenAI", "", 0.7),
    Subject(3, 11, "o3", "OpenAI", "", None),
    Subject(4, 12, "mystery", "", "", None),
    Subject(5, 13, "riddle", "", "", None),
    Subject(6, 13, "riddle", "", "", None),
]


def test_equal_seeds_give_equal_ids():
    assert make_key(SUBJECTS, 7) == make_key(SUBJECTS, 7)
    assert make_key(SUBJECTS, 7) != make_key(SUBJECTS, 8)


def test_ids_and_their_order_say_nothing_of_names():
    orders = set()
    for seed in range(30):
        key = make_key(SUBJECTS, seed)
        orders.add(tuple(key.models[one.model].name for one in key.variants))
        by_number = sorted(key.models, key=lambda name: key.models[name].name)
        orders.add(tuple(by_number) == tuple(sorted(key.models)))
    assert {True, False} <= orders
    assert len(orders) > 20


@pytest.mark.parametrize(
    ("kind", "group"), [("MK", "developers"), ("MD", "models"), ("S", "systems")]
)
def test_ids_lie_in_their_range(kind, group):
    numbers = [int(name.removeprefix(f"{kind}_")) for name in getattr(make_key(SUBJECTS, 1), group)]
    assert all(FIRST[kind] <= number < FIRST[kind] + 1000 for number in numbers)


def test_models_without_a_known_developer_share_none():
    key = make_key(SUBJECTS, 1)
    assert sorted(key.developers.values()) == ["", "", "OpenAI"]


def test_runs_of_one_variant_are_one():
    key = make_key(SUBJECTS, 1)
    assert sorted(variant.runs for variant in key.variants) == [(1,), (2,), (3,), (4,), (5, 6)]


def test_settings_that_all_share_and_nobody_set_have_no_id():
    key = make_key(SUBJECTS[3:], 1)
    assert (key.systems, key.temperatures) == ({}, {})
    assert all(variant.label == f"{variant.developer}/{variant.model}" for variant in key.variants)


def test_a_missing_system_prompt_differs_from_others():
    titles = {one.text: one.title for one in make_key(SUBJECTS, 1).systems.values()}
    assert titles == {"": "No system prompt", "Be brief.": "System prompt 1"}


def test_a_key_survives_being_stored():
    key = make_key(SUBJECTS, 1)
    assert Key.from_json(json.loads(json.dumps(key.to_json()))) == key
    assert Key.from_json({}) == Key({}, {})
