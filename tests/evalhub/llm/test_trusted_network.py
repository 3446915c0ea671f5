"""The endpoints of the trusted network, and their names in the record."""

import pytest

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.security.trusted_network import address_of, is_trusted


def at(api_base):
    return Endpoint(language_model_id=1, name="m", litellm_model="openai/gpt", api_base=api_base)


@pytest.mark.parametrize(
    ("api_base", "trusted"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://127.9.9.9/v1", True),
        ("http://localhost:11434", True),
        ("http://LOCALHOST.:80", True),
        ("http://[::1]:8000/v1", True),
        ("https://api.example.org/v1", False),
        ("http://10.0.0.5:8000/v1", False),
        ("http://localhost.example.org/v1", False),
        ("", False),
    ],
)
def test_this_machine_is_trusted_and_nothing_else(api_base, trusted):
    assert is_trusted(at(api_base)) is trusted


@pytest.mark.parametrize(
    ("listed", "api_base", "trusted"),
    [
        ("llm.internal", "http://llm.internal:8000/v1", True),
        ("llm.internal:8000", "http://llm.internal:8000/v1", True),
        ("llm.internal:8000", "http://llm.internal:9000/v1", False),
        ("10.0.0.0/24", "http://10.0.0.7/v1", True),
        ("10.0.0.0/24", "http://10.0.1.7/v1", False),
        ("10.0.0.0/24", "http://127.0.0.1/v1", False),
    ],
)
def test_what_is_listed_is_trusted(settings, listed, api_base, trusted):
    settings.EVALHUB_TRUSTED_ADDRESSES = [listed]
    assert is_trusted(at(api_base)) is trusted


def test_a_name_is_not_trusted_for_what_it_resolves_to(settings, monkeypatch):
    settings.EVALHUB_TRUSTED_ADDRESSES = ["127.0.0.0/8", "::1"]
    monkeypatch.setattr("socket.getaddrinfo", lambda *a, **k: pytest.fail("it was resolved"))

    assert not is_trusted(at("http://points-here.example.org/v1"))


@pytest.mark.parametrize(
    ("api_base", "address"),
    [
        ("https://api.example.org/v1", "api.example.org:443"),
        ("http://10.0.0.5:8000/v1", "10.0.0.5:8000"),
        ("http://[2001:db8::1]/v1", "[2001:db8::1]:80"),
        ("", "openai, at its own address"),
    ],
)
def test_the_record_names_host_and_port(api_base, address):
    assert address_of(at(api_base)) == address
