"""Where the server may listen, what it is called, and whose address counts."""

from dataclasses import replace

import pytest
from fastapi import Request

from twinsmith.core.errors import ConfigError
from twinsmith.settings import Settings, load
from twinsmith.web.addresses import address_of, checked_address, names_of, public_address


def settings(**server: object) -> Settings:
    known = load({})
    given = known.values.server.model_copy(update=server)
    return replace(known, values=known.values.model_copy(update={"server": given}))


def request(came: str, told: str = "") -> Request:
    headers = [(b"x-forwarded-for", told.encode())] if told else []
    return Request({"type": "http", "client": (came, 1), "headers": headers})


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_it_listens_on_the_loopback(host: str) -> None:
    checked_address(settings(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.org", ""])
def test_it_listens_nowhere_else_without_tls_or_a_word_that_says_so(host: str) -> None:
    with pytest.raises(ConfigError, match="is not the loopback"):
        checked_address(settings(host=host))
    with pytest.raises(ConfigError, match="is not the loopback"):
        checked_address(settings(host=host, public="https://x.example"))
    checked_address(settings(host=host, plain=True))
    checked_address(settings(host=host, certificate="c.pem", certificate_key="k.pem"))
    checked_address(settings(host=host, public="https://x.example", proxies=("10.0.0.1",)))


def test_a_certificate_needs_its_key() -> None:
    with pytest.raises(ConfigError, match="belong together"):
        checked_address(settings(certificate="c.pem"))


def test_what_is_forwarded_counts_only_from_a_proxy_that_is_trusted() -> None:
    trusting = settings(proxies=("10.0.0.1", "10.0.0.2"))
    assert address_of(request("9.9.9.9", "1.1.1.1"), trusting) == "9.9.9.9"
    assert address_of(request("10.0.0.1", "1.1.1.1"), trusting) == "1.1.1.1"
    assert address_of(request("10.0.0.1", "6.6.6.6, 1.1.1.1, 10.0.0.2"), trusting) == "1.1.1.1"
    assert address_of(request("127.0.0.1", "1.1.1.1"), settings()) == "127.0.0.1"


def test_its_names_and_its_address() -> None:
    assert "127.0.0.1" in names_of(settings())
    assert "x.example" in names_of(settings(host="0.0.0.0", public="https://x.example/"))
    assert names_of(settings(host="0.0.0.0")) == frozenset()
    assert public_address(settings(), 81) == "http://127.0.0.1:81"
    assert public_address(settings(public="https://x.example/")) == "https://x.example"
    assert public_address(settings(host="::1", certificate="c")) == "https://[::1]:8400"
