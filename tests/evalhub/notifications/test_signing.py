import pytest

from evalhub.notifications.signing import BadSecret, headers_of, keys_in
from tests.evalhub.notifications.listeners import TOLERANCE_S, is_genuine

BODY = b'{"event": "run_finished"}'


def test_a_signature_is_that_of_the_specification():
    keys = keys_in("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    headers = headers_of("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}', keys)

    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_while_a_secret_is_replaced_both_are_good():
    headers = headers_of("7", 1_000, BODY, keys_in("new old"))

    assert is_genuine(headers, b"new", BODY, now=1_000 + TOLERANCE_S)
    assert is_genuine(headers, b"old", BODY, now=1_000 + TOLERANCE_S)


def test_another_body_another_secret_or_an_old_time_is_refused():
    headers = headers_of("7", 1_000, BODY, [b"secret"])

    assert not is_genuine(headers, b"secret", BODY + b" ", now=1_000)
    assert not is_genuine(headers, b"other", BODY, now=1_000)
    assert not is_genuine(headers, b"secret", BODY, now=1_001 + TOLERANCE_S)
    assert not is_genuine(headers | {"webhook-id": "8"}, b"secret", BODY, now=1_000)
    assert not is_genuine(headers | {"webhook-timestamp": "1001"}, b"secret", BODY, now=1_000)
    assert not is_genuine({}, b"secret", BODY, now=1_000)


def test_a_secret_that_is_no_base64_is_refused():
    with pytest.raises(BadSecret, match="whsec_"):
        keys_in("whsec_no!")
