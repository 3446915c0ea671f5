import pytest

from issues.models import Tag, TagKind
from issues.tags import Domains, current_domains

TREE = Domains({"law": "", "rent law": "law", "eviction": "rent law", "health": ""})


def test_a_domain_lies_in_all_that_its_parents_lie_in():
    assert TREE.above("eviction") == ("rent law", "law")


def test_tags_are_of_their_domains_and_of_those_above_each_once():
    assert TREE.of(["eviction", "rent law", "urgent"]) == {"eviction", "rent law", "law"}


def test_a_ring_is_cut_once():
    ring = Domains.arranged([("b", "c"), ("a", "b"), ("c", "a"), ("outside", "c")])

    assert ring.parents == {"a": "", "b": "c", "c": "a", "outside": "c"}


@pytest.mark.django_db
def test_only_tags_of_that_kind_are_domains():
    law = Tag.objects.create(name="law", kind=TagKind.DOMAIN)
    other = Tag.objects.create(name="urgent")
    Tag.objects.create(name="rent law", kind=TagKind.DOMAIN, parent=law)
    Tag.objects.create(name="health", kind=TagKind.DOMAIN, parent=other)

    assert current_domains().parents == {"law": "", "rent law": "law", "health": ""}
