"""The encrypted link, with real certificates: whom it believes, and what each refusal says."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shutil
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, formatdate
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web

from tablectl.clock import SECOND, Instant, now
from tablectl.delivery import ways
from tablectl.delivery.tls import DAY, Tls, TlsFiles
from tests.delivery.authority import Authority, Pair
from tests.delivery.test_http import Sender
from tests.gameserver.posting import SECRET

Listen = Callable[..., Awaitable[str]]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls") / "house")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls") / "stranger", "Stranger CA")


@pytest.fixture(scope="module")
def good(house: Authority) -> Pair:
    return house.issue()


@pytest.fixture(scope="module")
def ours(house: Authority) -> Pair:
    return house.issue("DNS:T07")


@pytest_asyncio.fixture
async def listen() -> AsyncIterator[Listen]:
    """Starts a server that wants event 1, with this side of the encryption; its address.

    ``shown``: whose certificate each request came with.
    """
    runners: list[web.AppRunner] = []

    async def start(context: ssl.SSLContext | None, date: str = "", shown: list[str] | None = None) -> str:
        async def answer(request: web.Request) -> web.Response:
            assert request.method == "POST" or not (await request.read() or "webhook-id" in request.headers)
            if shown is not None and request.transport is not None:
                peer = request.transport.get_extra_info("peercert")
                shown.append(peer["subject"][0][0][1])
            return web.json_response({"next": 1}, headers={"Date": date} if date else {})

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        runners.append(runner)
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        return f"https://127.0.0.1:{runner.addresses[0][1]}/{{table}}"

    yield start
    for runner in runners:
        await runner.cleanup()


@contextlib.contextmanager
def alerting(context: ssl.SSLContext) -> Iterator[str]:
    """A server that says why it refuses a certificate (asyncio's own hangs up without a word)."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                plain, _ = listener.accept()
                plain.settimeout(2)
                with plain, contextlib.suppress(OSError):
                    context.wrap_socket(plain, server_side=True, suppress_ragged_eofs=False).close()
                    raise AssertionError("it was not refused")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{listener.getsockname()[1]}/{{table}}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(15)


async def says(tmp_path: Path, url: str, files: TlsFiles) -> str:
    """The alarm that comes of it, or "" for a good link."""
    sender = Sender(tmp_path / "T07.db", url, tls=files).start()
    try:
        await sender.until(lambda: sender.alarms or sender.links[-1:] == [(True, "")])
        if not sender.alarms:
            return ""
        (text,) = (text for code, text in sender.alarms if code == "delivery-link")
        why = text.removesuffix(f" {ways.CERTIFICATE}")
        assert why != text and why[-1] in ".?", "a way out, behind a whole sentence"
        return why.removesuffix(".")
    finally:
        await sender.stop()


def test_each_certificate_of_the_authority_stays_what_it_is(tmp_path: Path) -> None:
    """The tests' own authority, whose files a later certificate once overwrote."""
    authority = Authority(tmp_path / "many")
    made = {pair: pair.certificate.read_bytes() for pair in (authority.issue() for _ in range(18))}
    for pair, text in made.items():
        assert pair.certificate.read_bytes() == text
        authority.server(pair)  # certificate and key belong together


async def test_a_private_authority_is_believed_and_no_other(
    tmp_path: Path, listen: Listen, house: Authority, stranger: Authority, good: Pair
) -> None:
    url = await listen(house.server(good))
    assert await says(tmp_path, url, TlsFiles(house.certificate)) == ""
    refused = "the game server's certificate is refused: its authority is not known here"
    assert await says(tmp_path, url, TlsFiles()) == f"{refused}; name it with [server] ca"
    text = await says(tmp_path, url, TlsFiles(stranger.certificate))
    assert text.startswith(
        f"{refused}: it is not signed by an authority in {stranger.certificate} ([server] ca)"
    )


@pytest.mark.parametrize("name", ["DNS:other.example", "IP:192.0.2.1"])
async def test_a_certificate_for_another_name_is_refused(
    tmp_path: Path, listen: Listen, house: Authority, name: str
) -> None:
    url = await listen(house.server(house.issue(name)))
    text = await says(tmp_path, url, TlsFiles(house.certificate))
    assert text.endswith("it is for another name than 127.0.0.1")


async def test_one_signed_by_itself_is_refused(tmp_path: Path, listen: Listen, house: Authority) -> None:
    url = await listen(house.server(house.issue(self_signed=True)))
    assert "it is signed by itself" in await says(tmp_path, url, TlsFiles(house.certificate))


@pytest.mark.parametrize(
    ("begins", "ends", "server_days", "text"),
    [
        (-9, -2, 0, "it has ended; our clock agrees with the server's: it must be renewed there"),
        (5, 9, 0, "it is not valid yet; our clock agrees with the server's: it must be renewed there"),
        (5, 9, 7, r"it is not valid yet by our clock, which is 6\d{5} s behind the server's: set the clock"),
        (-9, -2, -5, r"it has ended by our clock, which is 4\d{5} s ahead of the server's: set the clock"),
    ],
)
async def test_a_certificate_out_of_its_time_and_a_clock_that_is_wrong_are_told_apart(
    tmp_path: Path, listen: Listen, house: Authority, begins: int, ends: int, server_days: int, text: str
) -> None:
    pair = house.issue(begins=begins, ends=ends)
    date = format_datetime(datetime.now(UTC) + timedelta(days=server_days), usegmt=True)
    url = await listen(house.server(pair), date)
    assert re.search(text, await says(tmp_path, url, TlsFiles(house.certificate)))


async def test_the_table_shows_its_certificate_where_one_is_demanded(
    tmp_path: Path, listen: Listen, house: Authority, stranger: Authority, good: Pair, ours: Pair
) -> None:
    context = house.server(good, demands=house)
    shown = TlsFiles(house.certificate, ours.certificate, ours.key)
    assert await says(tmp_path, await listen(context), shown) == ""
    with alerting(context) as url:
        text = await says(tmp_path, url, TlsFiles(house.certificate))
        assert text == "the game server wants a certificate of this table: [server] client_cert"
        for pair, words in (
            (stranger.issue("DNS:T07"), "does not know the authority of this table's certificate"),
            (house.issue("DNS:T07", begins=-9, ends=-2), "says that this table's certificate has ended"),
        ):
            text = await says(tmp_path, url, TlsFiles(house.certificate, pair.certificate, pair.key))
            assert text == f"the game server {words}"


async def test_a_server_that_only_hangs_up_may_want_a_certificate(
    tmp_path: Path, listen: Listen, house: Authority, good: Pair
) -> None:
    url = await listen(house.server(good, demands=house))
    sender = Sender(tmp_path / "T07.db", url, tls=TlsFiles(house.certificate)).start()
    try:
        await sender.until(lambda: sender.links and "may want another certificate" in sender.links[-1][1])
    finally:
        await sender.stop()


async def test_http_where_https_was_meant_is_said(tmp_path: Path, listen: Listen, house: Authority) -> None:
    url = await listen(None)
    text = await says(tmp_path, url, TlsFiles(house.certificate))
    assert text == "the game server does not speak TLS at this address: http:// instead of https://?"


async def test_a_file_that_is_missing_or_wrong_is_named_and_taken_up_when_it_comes(
    tmp_path: Path, listen: Listen, house: Authority, good: Pair, ours: Pair
) -> None:
    url = await listen(house.server(good, demands=house))
    key = tmp_path / "client-key"
    files = TlsFiles(house.certificate, ours.certificate, key)
    sender = Sender(tmp_path / "T07.db", url, tls=files).start()
    try:
        await sender.until(lambda: sender.alarms)
        assert sender.alarms.pop() == (
            "delivery-link",
            f"the credential client-key: {key}: No such file or directory. {ways.CERTIFICATE}",
        )
        for wrong, why in (
            (good.key.read_bytes(), "certificate and key do not belong together"),
            (b"no key", "no PEM file that can be used"),
        ):
            key.write_bytes(wrong)
            sender.delivery.retry()
            await sender.until(lambda: sender.alarms)
            assert why in sender.alarms.pop()[1]
        shutil.copy(ours.key, key)
        sender.delivery.retry()
        await sender.until(lambda: sender.links[-1] == (True, ""))
    finally:
        await sender.stop()


@pytest.mark.parametrize("cut_short", [False, True])
async def test_files_renewed_one_behind_the_other_leave_a_good_link_good(
    tmp_path: Path,
    listen: Listen,
    house: Authority,
    good: Pair,
    ours: Pair,
    cut_short: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The new certificate is there before its key; under systemd the key comes with the next start only."""
    shown: list[str] = []
    url = await listen(house.server(good, demands=house), shown=shown)
    pair = Pair(tmp_path / "client.pem", tmp_path / "client-key")
    shutil.copy(ours.certificate, pair.certificate)
    shutil.copy(ours.key, pair.key)
    files = TlsFiles(house.certificate, pair.certificate, pair.key)
    sender = Sender(tmp_path / "T07.db", url, tls=files, deadline=0.3).start()

    async def changes(target: Path, data: bytes) -> None:
        target.unlink()
        target.write_bytes(data)
        before = len(shown)
        sender.delivery.retry()
        await sender.until(lambda: len(shown) > before)

    try:
        await sender.until(lambda: sender.links[-1:] == [(True, "")])
        new = house.issue("DNS:T08")
        await changes(pair.certificate, new.certificate.read_bytes())
        await changes(pair.key, b"half a ke")
        await sender.until(lambda: sender.alarms)
        ((code, text),) = sender.alarms
        assert code == "certificate"
        assert "do not belong together" in text
        assert "goes on with those from before" in text
        bad = {why for is_good, why in sender.links if not is_good}
        assert bad == {"the game server has not answered yet"}, "which the test's own retry makes"
        assert set(shown) == {"T07"}
        if cut_short:
            really = aiohttp.ClientSession.close

            async def hangs(session: aiohttp.ClientSession) -> None:
                monkeypatch.setattr(aiohttp.ClientSession, "close", really)
                await asyncio.sleep(60)

            monkeypatch.setattr(aiohttp.ClientSession, "close", hangs)
        await changes(pair.key, new.key.read_bytes())
        await sender.until(lambda: shown[-1] == "T08")
        await sender.until(lambda: sender.links[-1] == (True, ""))
        assert len(sender.alarms) == 1
    finally:
        await sender.stop()


@pytest.mark.parametrize("what", ["ca", "certificate"])
def test_files_that_cannot_be_used(tmp_path: Path, house: Authority, ours: Pair, what: str) -> None:
    from tablectl.delivery.tls import TlsUnusable

    bad = tmp_path / "bad.pem"
    given = {"ca": house.certificate, "certificate": ours.certificate, "key": ours.key} | {what: bad}
    for content in (
        None,
        b"",
        b"\xff" * 100,
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ):
        if content is not None:
            bad.write_bytes(content)
        with pytest.raises(TlsUnusable, match=r"bad\.pem"):
            Tls(TlsFiles(**given))


async def test_certificates_that_end_soon_are_told_every_day(
    tmp_path: Path, listen: Listen, house: Authority
) -> None:
    url = await listen(house.server(house.issue(ends=5.5), demands=house))
    ours = house.issue("DNS:T07", ends=2.5)
    shift = [0]

    def clock() -> Instant:
        moment = now()
        return Instant(moment.boot + shift[0] * DAY * SECOND, moment.wall + shift[0] * DAY * SECOND)

    sender = Sender(
        tmp_path / "T07.db", url, tls=TlsFiles(house.certificate, ours.certificate, ours.key), clock=clock
    ).start()
    try:
        for day, (mine, theirs) in enumerate(
            [
                ("ends in 2 days", "ends in 5 days"),
                ("ends in 1 day (", "ends in 4 days"),
                ("ends today", "in 3"),
            ]
        ):
            shift[0] = day
            sender.delivery.retry()
            await sender.until(lambda: len(sender.alarms) >= 2)
            sender.delivery.retry()
            await sender.until(lambda: sender.outbox.probed)
            told = dict(sorted((text.partition(" certificate")[0], text) for _, text in sender.alarms))
            assert [code for code, _ in sender.alarms] == ["certificate"] * 2, "once a day each"
            assert mine in told["This table's own"]
            assert theirs in told["The game server's"]
            assert re.search(r"\(20\d\d-\d\d-\d\d\)", told["This table's own"])
            sender.alarms.clear()
        assert sender.links[-1] == (True, "")
    finally:
        await sender.stop()


def test_one_that_holds_long_is_not_told(house: Authority, ours: Pair) -> None:
    tls = Tls(TlsFiles(house.certificate, ours.certificate, ours.key))
    wall = now().wall / SECOND
    assert tls.until is not None
    assert abs(tls.until - (wall + 90 * DAY)) < 3600
    assert list(tls.ending(wall, 14)) == []
    assert len(list(tls.ending(wall + 80 * DAY, 14))) == 1
    (text,) = tls.ending(wall + 91 * DAY, 14)
    assert "has ended" in text


async def test_check_looks_at_the_certificates_too(
    tmp_path: Path, listen: Listen, house: Authority, stranger: Authority
) -> None:
    """``tablectl check``, before the table is opened."""
    from tablectl.cli.check.server import server_findings
    from tablectl.config import make_config

    ours = house.issue("DNS:T07", ends=9)
    (tmp_path / "credentials").mkdir()
    (tmp_path / "credentials" / "push-hmac").write_text(SECRET)
    shutil.copy(ours.key, tmp_path / "credentials" / "client-key")

    async def found(
        authority: Authority, pair: Pair, date: str = "", shows: bool = True
    ) -> list[tuple[str, str]]:
        url = await listen(house.server(pair, demands=None if date else house), date or None)
        server = {"url": url, "ca": str(authority.certificate)}
        server |= {"client_cert": str(ours.certificate)} if shows else {}
        raw = {
            "table": {"id": "T07"},
            "scanner": {"driver": "bee-tek", "device": "/dev/null"},
            "server": server,
            "secrets": {"folder": "credentials"},
        }
        config = make_config(raw, tmp_path / "T07.toml")
        findings = await asyncio.to_thread(lambda: [*server_findings(config)])
        return [(one.grade.upper(), one.text) for one in findings]

    for authority, pair, grade, words in (
        (house, house.issue(ends=5), "WARN", "this table's own certificate ends in 8 days"),
        (house, house.issue(ends=5), "WARN", "the game server's certificate ends in 4 days"),
        (house, house.issue(), "OK", "answers a signed empty request"),
        (stranger, house.issue(), "FAIL", "its authority is not known here"),
        (house, house.issue(begins=-9, ends=-2), "FAIL", "it must be renewed there, or the clock of this"),
    ):
        told = await found(authority, pair)
        assert any(g == grade and words in text for g, text in told), (words, told)
    ended = house.issue(begins=-9, ends=-2)
    told = await found(house, ended, formatdate(now().wall / SECOND, usegmt=True))
    assert "our clock agrees with the server's: it must be renewed there" in told[0][1]
    told = await found(house, ended, formatdate(now().wall / SECOND - 9 * DAY, usegmt=True))
    assert "set the clock of this machine" in told[0][1]
    told = await found(house, house.issue(), shows=False)
    assert "certificate of this table" in told[0][1], told
    (tmp_path / "credentials" / "client-key").unlink()
    told = await found(house, house.issue())
    assert told[0][1].startswith("the credential client-key: ") and "/client-key: No such file" in told[0][1]
