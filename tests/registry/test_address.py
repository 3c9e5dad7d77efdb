"""Addresses: every form people write is read, a wrong one is answered with the right ones, and none is ever shown."""

import pytest

from registry import BadAddress, connect
from registry.address import Address, Form, parse

READ = {
    "redis://h": (Form.ONE, (("h", 6379),), {}),
    "redis://h:7000/3": (Form.ONE, (("h", 7000),), {"db": 3}),
    "redis://:secret@h/0": (Form.ONE, (("h", 6379),), {"password": "secret", "db": 0}),
    "redis://bot:s%40c%2Fret@[::1]:7000": (Form.ONE, (("::1", 7000),), {"username": "bot", "password": "s@c/ret"}),
    "redis://bot:a/b@c:d@h:1/0": (Form.ONE, (("h", 1),), {"username": "bot", "password": "a/b@c:d", "db": 0}),
    "redis://h?db=2&username=u&password=p": (Form.ONE, (("h", 6379),), {"db": 2, "username": "u", "password": "p"}),
    "rediss+sentinel://u:p@a,b:1,[::2]:3/lead/1": (
        Form.SENTINEL,
        (("a", 26379), ("b", 1), ("::2", 3)),
        {"username": "u", "password": "p", "db": 1},
    ),
    "redis+cluster://a:1,b": (Form.CLUSTER, (("a", 1), ("b", 6379)), {}),
    "redis+cluster://u:p@a/0": (Form.CLUSTER, (("a", 6379),), {"username": "u", "password": "p", "db": 0}),
}


@pytest.mark.parametrize("url", READ)
def test_an_address_is_read(url):
    """Form, hosts with their ports, user, password and database."""
    address = parse(url, {})

    assert (address.form, address.hosts, address.login) == READ[url]
    assert address.is_tls == url.startswith("rediss")


@pytest.mark.parametrize(
    ("url", "path", "password"),
    [
        ("unix:///run/r.sock", "/run/r.sock", None),
        ("unix:///run/a@b.sock?password=p&db=1", "/run/a@b.sock", "p"),
        ("unix://u@/run/r.sock", "/run/r.sock", None),
    ],
)
def test_a_unix_socket_is_read(url, path, password):
    """A path, whatever stands in it."""
    address = parse(url, {})

    assert (address.path, address.login.get("password"), address.hosts) == (path, password, ())


def test_the_name_of_the_primary_and_the_sentinels_own_login_are_read():
    """Sentinels may have users of their own."""
    address = parse("redis+sentinel://u:p@a/lead?sentinel_username=s&sentinel_password=t", {})

    assert address.service == "lead"
    assert address.sentinel_login == {"username": "s", "password": "t"}


def test_tls_files_come_from_the_address_or_the_environment():
    """The address wins over the environment; without TLS neither is used."""
    environment = {"REDIS_TLS_CA_FILE": "/e/ca.pem", "REDIS_TLS_CERT_FILE": "/e/cert.pem", "REDIS_TLS_KEY_FILE": ""}

    address = parse("rediss://h?tls_ca_file=/a/ca.pem&tls_check_hostname=no", environment)

    assert address.tls == {"ssl_ca_certs": "/a/ca.pem", "ssl_certfile": "/e/cert.pem", "ssl_check_hostname": False}
    assert parse("rediss://h?ssl_ca_certs=/x", {}).tls == {"ssl_ca_certs": "/x"}
    assert parse("redis://h", environment).tls == {}


WRONG = {
    "": "redis://host:6379/0",
    "http://secret@host": "redis://host:6379/0",
    "redis+proxy://secret@host": "redis://host:6379/0",
    "redis://:secret@host:port": "A port is a number",
    "redis://:secret@a,b/0": "redis\\+sentinel://",
    "redis+sentinel://:secret@a,b": "primary's name",
    "redis://:secret@host/name": "number of the database",
    "redis+cluster://:secret@host/1": "only database 0",
    "redis://:secret@host?socket_timeout=1": "no option socket_timeout. There are: db",
    "rediss://:secret@host?tls_ca_fil=1": "Did you mean tls_ca_file?",
    "redis://:secret@host?db=secret": "option db .* cannot be read",
    "rediss://:secret@host?tls_check_hostname=perhaps": "tls_check_hostname",
}


@pytest.mark.parametrize("url", WRONG)
def test_a_wrong_address_is_a_mistake_and_not_repeated(url):
    """The message says what is right, and never holds the address with its password."""
    with pytest.raises(BadAddress, match=WRONG[url]) as mistake:
        connect(url)

    assert "secret" not in str(mistake.value)


def test_an_address_shows_no_password():
    """Printed by accident, it still holds none."""
    address = parse("rediss+sentinel://u:geheim@a/m?sentinel_password=hush", {})

    assert isinstance(address, Address)
    assert "geheim" not in repr(address)
    assert "hush" not in repr(address)
