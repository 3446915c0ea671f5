import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.documents.topic_names import CANONICAL, is_shown, topic_key, topic_title


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("Human Rights", "human-rights"),
        ("some_tag_name", "some-tag-name"),
        ("tag@with#special$chars", "tagwithspecialchars"),
        ("AI/ML & Data", "aiml--data"),
        ("", ""),
        ("_featured", "_featured"),
        (" Santé ", "santé"),
    ],
)
def test_tag_has_the_worked_key(written, key):
    assert topic_key(written) == key


# The source capitalises every word, so that its own list has no "Ai" and no "Rti": ours is looked
# up, and equal but for that.
@pytest.mark.parametrize(
    ("key", "title"),
    [
        ("legal-reasoning", "Legal Reasoning"),
        ("ai-safety--robustness", "AI Safety & Robustness"),
        ("freedom-of-information--rti", "Freedom of Information & RTI"),
        ("tenant-rights--housing", "Tenant Rights & Housing"),
        ("Long context understanding", "Long-Context Understanding"),
    ],
)
def test_topic_has_the_title_of_the_list_or_capitals(key, title):
    assert topic_title(key) == title


def test_no_two_titles_of_the_list_are_one_topic():
    assert len({topic_key(title) for title in CANONICAL}) == len(CANONICAL)


@given(st.text(max_size=40))
def test_key_of_a_key_is_the_same(text):
    assert topic_key(topic_key(text)) == topic_key(text)


@pytest.mark.parametrize(("key", "shown"), [("law", True), ("test", False), ("_featured", False)])
def test_tags_of_the_house_are_no_topics(key, shown):
    assert is_shown(key) is shown
