from resource import RUSAGE_SELF, getrusage

import pytest

from evalhub.frame_room import with_room

DEPTHS, CALLS = range(300), 100


def new_pages(call):
    """How often the system gives the process a page of memory while it calls this."""
    before = getrusage(RUSAGE_SELF).ru_minflt
    for _ in range(CALLS):
        call()
    return getrusage(RUSAGE_SELF).ru_minflt - before


def leaf(first, second, third):
    return first


def at_depth(depth):
    return at_depth(depth - 1) if depth else new_pages(lambda: leaf(1, 2, 3))


def slow_depths():
    return [depth for depth in DEPTHS if at_depth(depth) >= CALLS]


def test_no_depth_takes_memory_at_each_call():
    if not slow_depths():
        pytest.skip("this Python keeps the memory of frames")

    assert with_room(slow_depths)() == []


def test_a_call_gets_its_arguments_and_returns_its_result():
    assert with_room(lambda first, *, second: (first, second))(1, second=2) == (1, 2)
