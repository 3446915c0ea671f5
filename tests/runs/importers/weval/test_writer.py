"""A blueprint that is written reads back as it was, whatever it holds."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.importers.weval.blueprint.format import read_blueprint
from runs.importers.weval.blueprint.functions import Call, read_function, write_function
from runs.importers.weval.blueprint.records import Blueprint, NamedJudge, Point, Prompt, Source
from runs.importers.weval.blueprint.writer import not_known_to_weval, write_blueprint
from tests.runs.importers.weval.blueprints_in_text import blueprint_of
from tests.runs.importers.weval.test_functions import FUNCTIONS

# Such text as can be stored: no NUL and no half of a surrogate pair.
anything = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40)
texts = st.one_of(
    anything,
    st.sampled_from(["yes", "null", "1e5", "0o7", "2025-01-01", "$x", "- a", "a: b", "#", "<<"]),
    st.lists(st.sampled_from(["a ", " b", "c\n", "\n", "\t", "é", "“"]), min_size=1).map("".join),
)
said = texts.filter(lambda text: bool(text.strip()))
trimmed = texts.map(str.strip).filter(bool)
weights = st.sampled_from([0.1, 0.5, 1, 2, 10])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.floats(-1e6, 1e6) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(said, inner, max_size=3),
    max_leaves=4,
)
calls = st.one_of(
    st.sampled_from([Call(check, arguments) for _, _, check, arguments in FUNCTIONS]),
    st.builds(lambda text: Call("contains", {"text": text}), texts),
    st.builds(lambda value: Call("json_path_equals", {"path": "$.a", "value": value}), values),
)
any_calls = st.builds(Call, said, st.dictionaries(said, values, max_size=2))


@st.composite
def points(draw, polarity):
    """A block: required points, and then paths that are numbered from 1."""
    paths = draw(st.lists(st.integers(1, 2), max_size=3))
    ways = [None] * draw(st.integers(0, 2)) + [
        n for n, size in enumerate(paths, 1) for _ in range(size)
    ]
    return [draw(point(polarity, way)) for way in ways]


@st.composite
def point(draw, polarity, way):
    beside = {"weight": draw(weights), "citation": draw(st.just("") | trimmed)}
    beside |= {
        "polarity": polarity,
        "alternative": way,
        "mandatory": way is None and draw(st.booleans()),
    }
    if draw(st.booleans()):
        return Point(draw(trimmed), **beside)
    check, arguments = draw(calls)
    return Point(draw(st.just("") | trimmed), check=check, arguments=arguments, **beside)


@st.composite
def prompts(draw, name):
    turns = draw(st.lists(st.sampled_from(["user", "assistant", "system"]), max_size=3))
    messages = [{"role": role, "content": draw(said)} for role in [*turns, "user"]]
    if "assistant" in turns:
        messages[turns.index("assistant")]["content"] = draw(st.none() | said)
    if draw(st.sampled_from([False, False, True])):
        messages = [{"role": "raw_prompt", "content": draw(said)}]
    own = {"guidelines": st.just("") | said, "pass_threshold": st.sampled_from(["", 0, 0.5])}
    chosen = {key: draw(strategy) for key, strategy in own.items()}
    return Prompt(
        id=name,
        messages=messages,
        description=draw(st.just("") | trimmed),
        reference=draw(st.just("") | texts),
        weight=draw(weights),
        points=(*draw(points("should")), *draw(points("should_not"))),
        own={key: value for key, value in chosen.items() if value != ""},
        extras=draw(st.sampled_from([{}, {"noCache": True}, {"citation": [{"title": "A"}]}])),
    )


@st.composite
def blueprints(draw):
    names = draw(st.lists(trimmed, min_size=1, max_size=3, unique=True))
    systems = draw(st.lists(st.none() | said, max_size=3, unique=True))
    return Blueprint(
        id="sample",
        title=draw(trimmed),
        description=draw(st.just("") | trimmed),
        tags=tuple(sorted(draw(st.sets(st.sampled_from(["a", "law", "_own"]))))),
        models=tuple(draw(st.lists(trimmed, min_size=1, max_size=2, unique=True))),
        systems=() if systems == [None] else tuple(systems),
        temperatures=tuple(draw(st.lists(st.sampled_from([0, 0.7, 2]), unique=True))),
        judges=tuple(
            draw(st.sets(st.builds(NamedJudge, trimmed, st.just("holistic")), max_size=2))
        ),
        tools=draw(st.sampled_from([(), ({"name": "search", "schema": {"type": "object"}},)])),
        prompts=tuple(draw(prompts(name)) for name in names),
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(blueprints())
def test_whatever_is_written_reads_back_equal(blueprint):
    reading = read_blueprint(Source("sample.yml", "sample", write_blueprint(blueprint)))
    assert [str(problem) for problem in reading.problems] == []
    assert reading.blueprint == blueprint


@settings(deadline=None)
@given(calls | any_calls)
def test_a_check_is_written_so_that_it_reads_back(call):
    assert read_function(*write_function(call)) == call


def test_what_weval_would_not_read_is_named():
    blueprint = blueprint_of("""
        - prompt: Hi
          should:
          - {$contains: x, mandatory: true}
          - $evalhub: {check: equals, arguments: {text: x}}
          evalhub: {guidelines: Be kind.}
        - messages: [{role: raw_prompt, content: "<|user|>Hi"}]
          should: [It greets.]
        """)
    assert set(not_known_to_weval(blueprint)) == {
        "mandatory criteria",
        "the check equals",
        "guidelines of tests",
        "raw prompts",
    }


@pytest.mark.parametrize("text", ["two\nlines", "with space \nat an end", " begins so\nx"])
def test_longer_texts_are_written_as_blocks_where_those_keep_them(text):
    blueprint = Blueprint(
        "sample", "T", prompts=(Prompt("a", [{"role": "user", "content": text}]),)
    )
    assert ("|" in write_blueprint(blueprint)) == (text == "two\nlines")
