"""Where Redis is: the forms an address may take, and what each connection needs. No I/O.

    redis://USER:PASSWORD@HOST:6379/0              one server
    rediss://…                                     one server, TLS
    unix:///run/redis.sock                         one server on this machine
    redis+sentinel://…@HOST,HOST:26379/NAME/0      the primary that these sentinels name
    redis+cluster://…@HOST:6379,HOST               a Cluster, any of its servers
    rediss+sentinel://…  rediss+cluster://…        the same with TLS, to the sentinels too

Options follow a `?`; user and password stand percent-encoded and are never shown again.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from registry.errors import BadAddress, near_names

REDIS_PORT: Final = 6379
SENTINEL_PORT: Final = 26379
FORMS: Final = (
    "redis://host:6379/0, rediss://host:6380/0, unix:///path/redis.sock, redis+sentinel://host:26379,host:26379/name/0"
    " or redis+cluster://host:6379,host:6379"
)
TLS_FILES: Final = MappingProxyType(
    {"tls_ca_file": "ssl_ca_certs", "tls_cert_file": "ssl_certfile", "tls_key_file": "ssl_keyfile"}
)
"""Options that name a file; each may also stand in the environment, as `REDIS_TLS_CA_FILE`."""


class Form(StrEnum):
    """How one gets from an address to the server to ask."""

    ONE = "one"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Address:
    """Where to begin, and what every connection is made of."""

    form: Form
    hosts: tuple[tuple[str, int], ...]
    """Host and port; none for a unix socket."""
    path: str = ""
    """The unix socket."""
    service: str = ""
    """What the sentinels call the primary."""
    is_tls: bool = False
    login: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """User, password and database."""
    sentinel_login: Mapping[str, Any] = field(default_factory=dict, repr=False)
    tls: Mapping[str, Any] = field(default_factory=dict)
    """The client library's own names of TLS options."""

    @property
    def place(self) -> str:
        """Where it is, for people: never who we are there."""
        return self.path or ",".join(f"{host}:{port}" for host, port in self.hosts)

    def check_files(self) -> None:
        """Raise BadAddress for a TLS file that cannot be read."""
        for ours, theirs in TLS_FILES.items():
            if theirs in self.tls:
                try:
                    Path(self.tls[theirs]).open("rb").close()
                except OSError as problem:
                    raise BadAddress(
                        f"REDIS_{ours.upper()} (or {ours} in the address) names {self.tls[theirs]}, which cannot be"
                        f" read: {problem.strerror}."
                    ) from problem

    @property
    def is_checked(self) -> bool:
        """False: somebody asked not to check who it is that answers."""
        return not self.is_tls or self.tls.get("ssl_cert_reqs", "required") == "required"


def parse(url: str, environment: Mapping[str, str] | None = None) -> Address:
    """Read an address; raises BadAddress, whose text never holds any of it."""
    environment = os.environ if environment is None else environment
    scheme, _, rest = url.partition("://")
    secure, _, form = scheme.partition("+")
    if scheme == "unix" and rest:
        return _unix(rest)
    if secure not in ("redis", "rediss") or form not in ("", Form.SENTINEL, Form.CLUSTER) or not rest:
        raise BadAddress(f"The address of Redis must look like {FORMS}.")
    head, _, query = rest.partition("?")
    # A password may hold a / or an @ that nobody encoded; places never do.
    account, _, place = head.rpartition("@")
    places, _, path = place.partition("/")
    options = _options(query)
    login = _login(account, options)
    kind = Form(form or "one")
    names = [unquote(part) for part in path.split("/") if part]
    service = ""
    if kind is Form.SENTINEL:
        if not names:
            raise BadAddress("An address with sentinels ends in the primary's name: redis+sentinel://host:26379/name.")
        service = names.pop(0)
    _take_database(names, login, kind)
    hosts = tuple(_host(place, SENTINEL_PORT if kind is Form.SENTINEL else REDIS_PORT) for place in places.split(","))
    if kind is Form.ONE and len(hosts) > 1:
        raise BadAddress("Several servers are redis+sentinel:// or redis+cluster://.")
    is_tls = secure == "rediss"
    return Address(
        kind,
        hosts,
        service=service,
        is_tls=is_tls,
        login=login,
        sentinel_login={name.removeprefix("sentinel_"): options[name] for name in _SENTINEL if name in options},
        tls=_tls(options, environment) if is_tls else {},
    )


def _unix(rest: str) -> Address:
    head, _, query = rest.partition("?")
    account, slash, path = head.partition("/")
    return Address(Form.ONE, (), path=unquote(slash + path), login=_login(account.removesuffix("@"), _options(query)))


def _login(account: str, options: Mapping[str, Any]) -> dict[str, Any]:
    user, _, password = account.partition(":")
    login: dict[str, Any] = {"username": unquote(user), "password": unquote(password)}
    login = {name: value for name, value in login.items() if value}
    return login | {name: options[name] for name in ("username", "password", "db") if name in options}


def _take_database(names: list[str], login: dict[str, Any], kind: Form) -> None:
    if len(names) > 1 or (names and not names[0].isdigit()):
        raise BadAddress("After the last / stands the number of the database, such as redis://host:6379/0.")
    if names:
        login.setdefault("db", int(names[0]))
    if kind is Form.CLUSTER and login.get("db"):
        raise BadAddress("A Cluster has only database 0.")


def _host(place: str, port: int) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{place}")
        return parts.hostname or "localhost", parts.port or port
    except ValueError as problem:
        raise BadAddress("A port is a number: redis://host:6379/0.") from problem


def _options(query: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, text in parse_qsl(query, keep_blank_values=True):
        reader = _READERS.get(name)
        if reader is None:
            near = near_names(name, _READERS)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(_READERS)}."
            raise BadAddress(f"The address of Redis has no option {name}. {hint}")
        try:
            options[_NAMES.get(name, name)] = reader(text)
        except ValueError as problem:
            raise BadAddress(f"The option {name} in the address of Redis cannot be read.") from problem
    return options


def _tls(options: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    files = {theirs: environment.get(f"REDIS_{ours.upper()}", "") for ours, theirs in TLS_FILES.items()}
    files = {name: os.fspath(Path(path).expanduser()) for name, path in files.items() if path}
    return files | {name: value for name, value in options.items() if name.startswith("ssl_")}


def _truth(text: str) -> bool:
    if text.lower() not in _TRUTHS:
        raise ValueError(text)
    return _TRUTHS[text.lower()]


def _check(text: str) -> str:
    if text not in ("none", "required"):
        raise ValueError(text)
    return text


_TRUTHS: Final = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_SENTINEL: Final = ("sentinel_username", "sentinel_password")
_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "db": int,
    "username": str,
    "password": str,
    "sentinel_username": str,
    "sentinel_password": str,
    "tls_ca_file": str,
    "tls_cert_file": str,
    "tls_key_file": str,
    "tls_check_hostname": _truth,
    # The client library's own names, which people have in their addresses already.
    "ssl_ca_certs": str,
    "ssl_certfile": str,
    "ssl_keyfile": str,
    "ssl_check_hostname": _truth,
    "ssl_cert_reqs": _check,
}
_NAMES: Final = {**TLS_FILES, "tls_check_hostname": "ssl_check_hostname"}
