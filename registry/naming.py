"""What the client library and the server say went wrong, in our own words."""

import ssl
from types import MappingProxyType
from typing import Final

from redis import exceptions as answers

from registry.errors import Overtaken, Refused, RegistryAway, RegistryFull

SPOKEN: Final = (answers.ResponseError, answers.AuthenticationError)
"""The server answered, and said no."""
REDIRECTS: Final = (answers.MovedError, answers.AskError)
UNREADY: Final = (
    answers.ReadOnlyError,
    answers.ClusterDownError,
    answers.TryAgainError,
    answers.MasterDownError,
)
"""The server we asked cannot do it now, and did nothing of it: perhaps another one can."""
BROKEN: Final = (answers.ConnectionError, answers.TimeoutError, OSError)
"""Nobody knows whether it was done."""

_AWAY_WORDS: Final = ("LOADING", "BUSY", "NOREPLICAS", "UNBLOCKED")
_FULL_WORDS: Final = ("OOM", "MISCONF")
_CERTIFICATE: Final = MappingProxyType(
    {
        9: "it is not valid yet (is the clock of this machine right?)",
        10: "it has expired",
        18: "it is signed by itself, by nobody we trust; name its authority with REDIS_TLS_CA_FILE",
        19: "nobody we trust has signed it; name its authority with REDIS_TLS_CA_FILE",
        20: "nobody we trust has signed it; name its authority with REDIS_TLS_CA_FILE",
        62: "it is made for another host name than the one in the address",
        64: "it is made for another address than the one we were given",
    }
)
"""By OpenSSL's number of what it found."""


_SILENT_TLS = ", or speaks no TLS: then the address begins with redis://"
"""A plain server waits for the end of a line that a TLS greeting never has."""
_ENDED_TLS = ". A server that wants a certificate of ours may end so, too: REDIS_TLS_CERT_FILE and REDIS_TLS_KEY_FILE"
"""With TLS 1.3 it refuses us after the greeting, and what we sent by then makes it reset before its reason is read."""


class naming:  # noqa: N801
    """Turns errors that leave the block into ours."""

    def __init__(self, limit: float, *, is_tls: bool = False) -> None:
        self._limit = limit
        self._is_tls = is_tls

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        named = name_of(error, self._limit, is_tls=self._is_tls)
        if named is not None:
            raise named from error


def name_of(error: BaseException | None, limit: float, *, is_tls: bool = False) -> Exception | None:
    """Return our own error for one of the library's; None: it is none of those.

    `is_tls`: we spoke TLS, so that silence and a reset may mean more.
    """
    if isinstance(error, answers.ConnectionError) and isinstance(error.__cause__, SPOKEN):
        # What the server said while we introduced ourselves comes wrapped as a broken connection.
        error = error.__cause__
    if isinstance(error, answers.WatchError):
        return Overtaken("another process changed it first")
    if isinstance(error, answers.AuthenticationError | answers.NoPermissionError):
        # The server's sentence names the user and the command, never the password.
        return Refused(f"Redis does not let us: {_sentence(error)}")
    if isinstance(error, answers.OutOfMemoryError):
        return RegistryFull(f"Redis takes no more writes: {_sentence(error)}")
    if isinstance(error, (answers.BusyLoadingError, *UNREADY)):
        return RegistryAway(f"Redis cannot serve us yet: {_sentence(error)}")
    if isinstance(error, REDIRECTS):
        return RegistryAway(f"Redis keeps sending us from server to server: {_sentence(error)}")
    if isinstance(error, answers.ResponseError):
        return _named_answer(_sentence(error))
    if isinstance(error, TimeoutError | answers.TimeoutError):
        return RegistryAway(f"Redis did not answer within {limit:g} s{_SILENT_TLS if is_tls else ''}")
    if isinstance(error, answers.ConnectionError | OSError | answers.RedisError):
        return _named_break(error, is_tls=is_tls)
    return None


def _named_answer(sentence: str) -> Exception:
    if "WRONGTYPE" in sentence or "wrong kind of value" in sentence:
        return Refused(f"a key of ours holds another type of data: {sentence}")
    if any(word in sentence for word in _FULL_WORDS):
        return RegistryFull(f"Redis takes no more writes: {sentence}")
    if sentence.startswith(_AWAY_WORDS):
        return RegistryAway(f"Redis cannot serve us at the moment: {sentence}")
    return Refused(f"Redis refused: {sentence}")


def _named_break(error: BaseException, *, is_tls: bool) -> Exception:
    """A broken connection; a TLS handshake that failed needs a person, and says what for."""
    sentence = _sentence(error)
    root = error if isinstance(error, OSError) else error.__context__
    if isinstance(root, ssl.SSLCertVerificationError):
        why = _CERTIFICATE.get(root.verify_code, root.verify_message)
        return Refused(f"The certificate of Redis is refused: {why}. ({sentence})")
    if "WRONG_VERSION_NUMBER" in sentence:
        return Refused(f"Redis does not speak TLS there: use redis:// or another port. ({sentence})")
    if "CERTIFICATE_REQUIRED" in sentence or "HANDSHAKE_FAILURE" in sentence:
        return Refused(f"Redis wants a certificate of ours: REDIS_TLS_CERT_FILE and REDIS_TLS_KEY_FILE. ({sentence})")
    if "UNKNOWN_CA" in sentence or "CERTIFICATE_EXPIRED" in sentence:
        return Refused(f"Redis refuses our own certificate (REDIS_TLS_CERT_FILE). ({sentence})")
    if isinstance(root, ssl.SSLError) and ("PEM" in sentence or "NO_CERTIFICATE" in sentence):
        return Refused(f"A TLS file holds no certificate or key that can be read. ({sentence})")
    is_ended = isinstance(root, ConnectionResetError | BrokenPipeError) or "closed by server" in sentence
    return RegistryAway(f"Redis is not reachable: {sentence}{_ENDED_TLS if is_tls and is_ended else ''}")


def _sentence(error: BaseException) -> str:
    return str(error) or type(error).__name__
