"""Signatures, with the scheme's own package as the independent witness."""

from __future__ import annotations

import base64
import datetime as dt
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from tablectl.delivery.signing import SignatureRefused, parse_secret, parse_secrets, sign, verify

ONE = "whsec_" + base64.b64encode(bytes(range(32))).decode()
TWO = "whsec_" + base64.b64encode(bytes(range(32, 64))).decode()
KEY, OTHER = parse_secret(ONE), parse_secret(TWO)


@given(st.text(max_size=200), st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True))
def test_the_witness_takes_what_we_sign_and_we_take_what_it_signs(text: str, message: str) -> None:
    body, now = text.encode(), int(time.time())
    for keys, secret in (([KEY], ONE), ([KEY, OTHER], ONE), ([KEY, OTHER], TWO)):
        Webhook(secret).verify(body, sign(keys, message, now, body), json_parse=False)
    stamp = dt.datetime.fromtimestamp(now, dt.UTC).replace(tzinfo=None)
    theirs = Webhook(ONE).sign(message, stamp, text)
    headers = {"Webhook-Id": message, "Webhook-Timestamp": str(now), "Webhook-Signature": f"v1a,xx {theirs}"}
    assert verify([OTHER, KEY], headers, body, now) == message


def test_the_witness_refuses_another_secret() -> None:
    now = int(time.time())
    with pytest.raises(WebhookVerificationError):
        Webhook(TWO).verify(b"{}", sign([KEY], "m", now, b"{}"), json_parse=False)


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_every_header_is_needed(name: str) -> None:
    headers = sign([KEY], "m", 1000, b"{}")
    del headers[name]
    with pytest.raises(SignatureRefused, match=f"{name} is missing"):
        verify([KEY], headers, b"{}", 1000)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("webhook-id", "n"),
        ("webhook-timestamp", "1001"),
        ("webhook-timestamp", "1e3"),
        ("webhook-timestamp", "-1000"),
        ("webhook-timestamp", "٣"),
        ("webhook-timestamp", "9" * 5000),
        ("webhook-signature", ""),
        ("webhook-signature", "v1,"),
        ("webhook-signature", "v1,ü"),
        ("webhook-signature", "v2,AAAA v1"),
    ],
)
def test_what_was_changed_is_refused(name: str, value: str) -> None:
    headers = sign([KEY], "m", 1000, b"{}") | {name: value}
    with pytest.raises(SignatureRefused):
        verify([KEY], headers, b"{}", 1000)


def test_a_changed_body_or_another_secret_is_refused() -> None:
    headers = sign([KEY], "m", 1000, b"{}")
    with pytest.raises(SignatureRefused, match="no signature fits"):
        verify([KEY], headers, b"{ }", 1000)
    with pytest.raises(SignatureRefused, match="no signature fits"):
        verify([OTHER], headers, b"{}", 1000)


def test_the_window_is_five_minutes_on_both_sides_and_says_which_clock() -> None:
    headers = sign([KEY], "m", 1000, b"{}")
    assert verify([KEY], headers, b"{}", 1300) == "m"
    assert verify([KEY], headers, b"{}", 700) == "m"
    with pytest.raises(SignatureRefused, match="301 s behind"):
        verify([KEY], headers, b"{}", 1301)
    with pytest.raises(SignatureRefused, match="301 s ahead"):
        verify([KEY], headers, b"{}", 699)


def secret_of(size: int) -> str:
    return "whsec_" + base64.b64encode(b"\x07" * size).decode()


def test_24_to_64_bytes_are_taken() -> None:
    assert parse_secret(secret_of(24) + "\n") == b"\x07" * 24
    assert parse_secret(secret_of(64)) == b"\x07" * 64


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("correct horse battery staple and more", "begins with whsec_"),
        ("whsec_correct horse battery staple", "not base64"),
        ("whsec_" + "ü" * 40, "not base64"),
        (secret_of(32)[:-1], "not base64"),
        (secret_of(23), "has 23 bytes"),
        (secret_of(65), "has 65 bytes"),
        ("whsec_", "has 0 bytes"),
    ],
)
def test_what_is_no_secret_is_said_without_showing_it(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as caught:
        parse_secret(text)
    assert text[10:] not in str(caught.value) or not text[10:]


def test_one_or_two_secrets() -> None:
    assert parse_secrets([ONE, TWO]) == (KEY, OTHER)
    for wrong in ([], [ONE, TWO, ONE]):
        with pytest.raises(ValueError, match="one signing secret"):
            parse_secrets(wrong)
