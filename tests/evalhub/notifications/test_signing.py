from evalhub.notifications.outbox import signature
from tests.evalhub.notifications.listeners import TOLERANCE_S, is_genuine

BODY = b'{"event": "run_finished"}'


def test_a_signature_is_that_of_the_published_recipe():
    # echo -n '1700000000.{"event": "run_finished"}' | openssl dgst -sha256 -hmac secret
    signed = signature("secret", 1_700_000_000, BODY)

    assert signed.startswith("t=1700000000,v1=")
    assert len(signed.rpartition("=")[2]) == 64


def test_the_receiver_takes_what_was_signed():
    assert is_genuine(signature("secret", 1_000, BODY), "secret", BODY, now=1_000 + TOLERANCE_S)


def test_another_body_another_secret_or_an_old_time_is_refused():
    signed = signature("secret", 1_000, BODY)

    assert not is_genuine(signed, "secret", BODY + b" ", now=1_000)
    assert not is_genuine(signed, "other", BODY, now=1_000)
    assert not is_genuine(signed, "secret", BODY, now=1_001 + TOLERANCE_S)
    assert not is_genuine(signed.replace("t=1000", "t=1001"), "secret", BODY, now=1_000)
    assert not is_genuine("nonsense", "secret", BODY, now=1_000)
