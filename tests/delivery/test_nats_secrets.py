"""Who a table believes and who it is, over NATS: certificates, tokens, ``.creds`` and a real server."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import re
import secrets
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import nkeys
import pytest
import pytest_asyncio
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from tablectl.delivery import ways
from tablectl.delivery.tls import TlsFiles
from tablectl.gameserver.server import GameServer
from tests.delivery.authority import Authority, Pair
from tests.delivery.nats_rig import Rig
from tests.gameserver.posting import SECRET


@pytest_asyncio.fixture
async def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Rig]:
    for module in ("sender", "nats_taken"):
        monkeypatch.setattr(f"tablectl.delivery.{module}.LOOK", 0.02)
    made = Rig(tmp_path)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("house") / "ca")


@pytest.fixture(scope="module")
def pair(house: Authority) -> Pair:
    return house.issue()


def encrypting(pair: Pair, more: str = "") -> str:
    return f'tls {{ cert_file: "{pair.certificate}", key_file: "{pair.key}" {more} }}'


def encrypted(rig: Rig) -> str:
    return rig.nats.url.replace("nats://", "tls://")


async def test_a_private_authority_and_a_certificate_of_the_table(
    rig: Rig, house: Authority, pair: Pair
) -> None:
    await rig.nats.make_stream()
    rig.restart(encrypting(pair, f', verify: true, ca_file: "{house.certificate}"'))
    own = house.issue("DNS:T07", ends=3)
    files = TlsFiles(house.certificate, own.certificate, own.key)
    sender = rig.sender(encrypted(rig), tls=files)
    sender.play(3)
    await sender.all_stored()
    assert [code for code, _ in sender.alarms] == ["certificate"]
    assert "own certificate ends in 2 days" in sender.alarms[0][1]


@pytest.mark.parametrize(
    ("who", "words"),
    [
        ("stranger", "the NATS server's certificate is refused: its authority is not known here"),
        ("other name", "the NATS server's certificate is refused: it is for another name than 127.0.0.1"),
        ("ended", "the NATS server's certificate is refused: it has ended"),
    ],
)
async def test_a_certificate_that_is_refused(
    rig: Rig, house: Authority, pair: Pair, tmp_path: Path, who: str, words: str
) -> None:
    shown = {
        "stranger": lambda: pair,
        "other name": lambda: house.issue("DNS:elsewhere.example"),
        "ended": lambda: house.issue(begins=-9, ends=-1),
    }[who]()
    believed = Authority(tmp_path / "other", "Other CA") if who == "stranger" else house
    rig.restart(encrypting(shown))
    sender = rig.sender(encrypted(rig), tls=TlsFiles(believed.certificate))
    await sender.until(lambda: sender.alarms)
    assert sender.alarms[0][0] == "delivery-link"
    assert words in sender.alarms[0][1]
    assert sender.alarms[0][1].endswith(ways.CERTIFICATE)


@contextlib.asynccontextmanager
async def without_encryption() -> AsyncIterator[tuple[int, bytearray]]:
    """A NATS server, or one in the middle, that demands no encryption: its port, and what it heard."""
    heard = bytearray()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'INFO {"server_id":"X","version":"2.11.0","headers":true,"auth_required":true}\r\n')
        while data := await reader.read(4096):
            heard.extend(data)
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1], heard
    server.close()


async def test_a_server_that_does_not_encrypt_hears_no_secret(rig: Rig, house: Authority) -> None:
    credential = rig.folder / "nats-auth"
    credential.write_text("a-secret-token")
    async with without_encryption() as (port, heard):
        sender = rig.sender(f"tls://127.0.0.1:{port}", tls=TlsFiles(house.certificate), credential=credential)
        await sender.until(lambda: sender.alarms)
    said = f"the NATS server at 127.0.0.1:{port} does not encrypt, and tls:// demands it"
    assert said in sender.alarms[0][1]
    assert bytes(heard) == b""


@pytest.mark.parametrize("scheme", ["tls", "nats"])
async def test_nor_does_it_hear_the_game_server_s(scheme: str, tmp_path: Path) -> None:
    """Without ``tls://`` it is spoken to: that is what the one who started it asked for."""
    async with without_encryption() as (port, heard):
        at = f"{scheme}://127.0.0.1:{port}"
        server = GameServer(tmp_path / "held.db", [SECRET], nats=at, nats_credential="a-secret-token")
        await server.start()
        with structlog.testing.capture_logs() as logs:
            async with asyncio.timeout(5):
                while not logs and not heard:
                    await asyncio.sleep(0.01)
        await server.stop()
    assert (b"a-secret-token" in heard, bool(heard)) == (scheme == "nats", scheme == "nats")


async def test_token_comes_from_the_credential_and_is_read_anew(rig: Rig) -> None:
    await rig.nats.make_stream()
    rig.restart('authorization { token: "right" }')
    credential = rig.folder / "nats-auth"
    sender = rig.sender(credential=credential)
    sender.play()
    await sender.until(lambda: sender.alarms)
    refused = "the NATS server does not accept this table's credential nats-auth"
    assert sender.alarms[0] == ("delivery-link", f"{refused}. {ways.NATS_AUTH}")
    credential.write_text("right\n")
    sender.delivery.retry()
    await sender.all_stored()
    assert "right" not in str(sender.links) + str(sender.alarms) + str(sender.delivery.status())


GUIDE = (Path(__file__).parents[2] / "docs" / "integration.md").read_text()


async def test_the_configuration_of_the_guide_is_enough_and_allows_no_more(
    rig: Rig, house: Authority
) -> None:
    """As printed: each table known by its certificate."""
    await rig.nats.make_stream()
    shown = next(block for block in GUIDE.split("```") if "verify_and_map" in block)
    pair, game = house.issue(), house.issue("DNS:game-server")
    for name, path in (
        ("server.crt", pair.certificate), ("server.key", pair.key), ("house-ca.crt", house.certificate),
    ):  # fmt: skip
        assert f'"{name}"' in shown
        shown = shown.replace(f'"{name}"', f'"{path}"')
    rig.restart(shown.replace("users: [", 'users: [ { user: "game-server" },'))
    made = {name: house.issue(f"DNS:{name}") for name in ("T07", "T08")}
    senders = {
        name: rig.sender(encrypted(rig), tls=TlsFiles(house.certificate, own.certificate, own.key), path=path)
        for (name, own), path in zip(made.items(), (rig.path, rig.folder / "other.db"), strict=True)
    }
    for sender in senders.values():
        sender.play(2)
    await senders["T07"].all_stored()
    await senders["T08"].until(lambda: senders["T08"].alarms)
    context = ssl.create_default_context(cafile=house.certificate)
    context.load_cert_chain(game.certificate, game.key)
    client = Client()
    await client.connect(encrypted(rig), tls=context, allow_reconnect=False)

    async def answer(message: Msg) -> None:
        await message.respond(b'{"next": 3}')

    await client.subscribe("tables.*.link", cb=answer)
    await senders["T07"].good()
    await client.close()


async def test_creds_of_a_jwt_account_with_what_the_guide_allows(rig: Rig) -> None:
    operator, system, account, user, admin = (_Key(kind) for kind in (b"O", b"A", b"A", b"U", b"U"))
    allows = re.search(r"nsc add user T07 --allow-pub '(.*)' --allow-sub '(.*)'", GUIDE)
    assert allows is not None
    publish, subscribe = ({"allow": allows[n].split(",")} for n in (1, 2))
    open_ = {"subs": -1, "data": -1, "payload": -1}
    limits = open_ | {"conn": -1, "leaf": -1, "imports": -1, "exports": -1, "wildcards": True}
    limits |= {"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}
    of_account = operator.signs(account, {"type": "account", "version": 2, "limits": limits})
    of_system = operator.signs(system, {"type": "account", "version": 2, "limits": open_})
    rig.restart(
        f"operator: {operator.signs(operator, {'type': 'operator', 'version': 2})}\n"
        f"system_account: {system.public}\nresolver: MEMORY\n"
        f"resolver_preload: {{ {account.public}: {of_account}, {system.public}: {of_system} }}\n"
    )
    credential = rig.folder / "nats-auth"
    claims = {"type": "user", "version": 2, **open_}
    credential.write_text(_creds(admin, account.signs(admin, claims)))
    made = await rig.nats.ask("STREAM.CREATE.TABLES", _STREAM, user_credentials=str(credential))
    credential.write_text(_creds(user, account.signs(user, claims | {"pub": publish, "sub": subscribe})))
    assert "error" not in made, made
    sender = rig.sender(credential=credential)
    sender.play(2)
    await sender.all_stored()
    other = rig.folder / "other-auth"
    other.write_text(re.sub("SU[A-Z0-9]+", _Key(b"U").seed, credential.read_text()))
    wrong = rig.sender(path=rig.folder / "wrong.db", credential=other)
    await wrong.until(lambda: wrong.alarms)
    assert "does not accept this table's credential nats-auth" in wrong.alarms[0][1]
    other.write_text("-----BEGIN NATS USER JWT-----\nrubbish\n")
    wrong.delivery.retry()
    await wrong.until(lambda: "no connection to the NATS server" in wrong.why)


def _creds(user: _Key, claims: str) -> str:
    return (
        f"-----BEGIN NATS USER JWT-----\n{claims}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n"
    )


_STREAM = {"name": "TABLES", "subjects": ["tables.*.events"]}


class _Key:
    """One key of NATS's own kind, which signs claims."""

    def __init__(self, kind: bytes) -> None:
        prefix = {b"O": 14 << 3, b"A": 0, b"U": 20 << 3}[kind]
        raw = secrets.token_bytes(32)
        self.seed = nkeys.encode_seed(raw, prefix).decode()
        self._pair: Any = nkeys.from_seed(bytearray(self.seed.encode()))
        self.public = self._pair.public_key.decode()

    def signs(self, other: _Key, claims: dict[str, Any]) -> str:
        body = {
            "iss": self.public,
            "sub": other.public,
            "name": "t",
            "iat": 1_700_000_000,
            "jti": "x",
            "nats": claims,
        }
        parts = [_encoded({"typ": "JWT", "alg": "ed25519-nkey"}), _encoded(body)]
        signed = self._pair.sign(".".join(parts).encode())
        return ".".join([*parts, base64.urlsafe_b64encode(signed).rstrip(b"=").decode()])


def _encoded(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
