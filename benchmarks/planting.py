"""Secrets as training jobs really print them, made up anew each time, and healthy lines that look like them."""

import random
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

Make = Callable[[random.Random], tuple[str, str]]
"""A secret, and the text it stands in."""

_LETTERS = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_BASE64 = _LETTERS + "+/"
_UPPER = string.ascii_uppercase + "234567"


def _of(chance: random.Random, alphabet: str, least: int, most: int = 0) -> str:
    return "".join(chance.choices(alphabet, k=chance.randint(least, max(least, most))))


def _shaped(prefix: str, alphabet: str, least: int, most: int = 0, *texts: str) -> Make:
    """A secret known by its shape, in one of some texts; `{}` is where it stands."""

    def make(chance: random.Random) -> tuple[str, str]:
        secret = prefix + _of(chance, alphabet, least, most)
        return secret, chance.choice(texts or ("token {} is invalid", "X={}", "login('{}')", '{{"t": "{}"}}')).format(
            secret
        )

    return make


def _named(*texts: str, alphabet: str = _LETTERS, least: int = 12, most: int = 40) -> Make:
    """A secret known by the name before it."""

    def make(chance: random.Random) -> tuple[str, str]:
        secret = "a1" + _of(chance, alphabet, least, most)
        return secret, chance.choice(texts).format(secret)

    return make


def _key(*, begin: bool, end: bool) -> Make:
    """A private key, whole or cut at either end."""

    def make(chance: random.Random) -> tuple[str, str]:
        kind = chance.choice(("RSA ", "", "OPENSSH ", "EC ", "ENCRYPTED "))
        lines = [_of(chance, _BASE64, 64) for _ in range(chance.randint(2, 12))]
        text = [f"-----BEGIN {kind}PRIVATE KEY-----"] * begin + lines + [f"-----END {kind}PRIVATE KEY-----"] * end
        return chance.choice(lines), "\n".join(text)

    return make


def _jwt(chance: random.Random) -> tuple[str, str]:
    secret = (
        f"eyJ{_of(chance, _LETTERS, 20, 60)}.eyJ{_of(chance, _LETTERS, 30, 200)}.{_of(chance, _LETTERS + '-_', 43)}"
    )
    return secret, chance.choice(("jwt={}", "Authorization: Bearer {}", "cookie {} sent")).format(secret)


KINDS: Mapping[str, Make] = {
    "Hugging Face": _shaped("hf_", _LETTERS, 30, 40),
    "Hugging Face organisation": _shaped("api_org_", _LETTERS, 30, 40),
    "W&B by its name": _named(
        "WANDB_API_KEY={}", "wandb login {}", "wandb_api_key: {}", alphabet=_HEX, least=38, most=38
    ),
    "W&B in netrc": _named("machine api.wandb.ai login user password {}", alphabet=_HEX, least=38, most=38),
    "W&B new": _shaped("wandb_v1_", _LETTERS, 77),
    "OpenAI": _shaped("sk-", _LETTERS, 20, 60),
    "OpenAI project": _shaped("sk-proj-", _LETTERS + "-_", 40, 120),
    "Anthropic": _shaped("sk-ant-api03-", _LETTERS + "-_", 90),
    "AWS id": _shaped("AKIA", _UPPER, 16),
    "AWS secret": _named(
        "aws_secret_access_key = {}", "AWS_SECRET_ACCESS_KEY={}", '"SecretAccessKey": "{}"',
        alphabet=_BASE64, least=38, most=38,
    ),
    "AWS session": _named("AWS_SESSION_TOKEN={}", "aws_session_token = {}", alphabet=_BASE64, least=100, most=300),
    "pre-signed URL": _named(
        "GET https://b.s3.amazonaws.com/k?X-Amz-Date=2026&X-Amz-Signature={}&x=1", alphabet=_HEX, least=62, most=62
    ),
    "Google": _shaped("AIza", _LETTERS + "-_", 35),
    "Azure SAS": _named("https://a.blob.core.windows.net/c/f?sv=2024&sig={}", least=43, most=60),
    "Azure connection": _named("Endpoint=https;AccountName=a;AccountKey={};E=x", alphabet=_BASE64, least=86, most=86),
    "GitHub": _shaped("ghp_", _LETTERS, 36, 36, "remote: https://{}@github.com/o/r.git", "TOKEN {}", "t='{}'"),
    "GitHub fine": _shaped("github_pat_", _LETTERS + "_", 82),
    "GitLab": _shaped("glpat-", _LETTERS + "-_", 20, 30),
    "PyPI": _shaped("pypi-", _LETTERS + "-_", 150, 180),
    "npm": _shaped("npm_", _LETTERS, 36),
    "Slack": _shaped("xoxb-", _LETTERS, 30, 50),
    "Slack app": _shaped("xapp-1-", _LETTERS, 40, 90),
    "Slack webhook": _named("https://hooks.slack.com/services/T0/B0/{}", least=24, most=24),
    "web token": _jwt,
    "bearer": _named("Authorization: Bearer {}", "'Authorization': 'Bearer {}'", "authorization=Bearer {}", least=20),
    "basic": _named("Authorization: Basic {}", "proxy-authorization: Basic {}", alphabet=_BASE64, least=16),
    "URL": _named(
        "redis://default:{}@host:6379/0", "postgres://ml:{}@db/x", "mongodb+srv://u:{}@c/x", "http_proxy=http://u:{}@p:1"
    ),
    "private key": _key(begin=True, end=True),
    "private key without its end": _key(begin=True, end=False),
    "private key without its begin": _key(begin=False, end=True),
    "password": _named(
        "password={}", "--password {} --lr 1", "--db-password={}", '"password": "{}"', "Namespace(lr=1, passwd='{}')",
        "MY_PASSWORD={}", "db_password: {}", r'\"password\": \"{}\"', "PASSPHRASE='{}'",
    ),
    "api key": _named(
        "api_key={}", "--api-key {}", "comet_api_key='{}'", '"api-key": "{}"', "COMET_API_KEY={}", "x-api-key: {}",
        "clearml: api.credentials.secret_key = {}", "client_secret: {}", r'\"apiKey\": \"{}\"',
    ),
    "token by its name": _named(
        "NEPTUNE_API_TOKEN={}", "token: {}", "auth_token={}", "access_token='{}'", '"refresh_token": "{}"', least=24
    ),
    "docker": _named('{{"auths": {{"https://index.docker.io/v1/": {{"auth": "{}"}}}}}}', alphabet=_BASE64, least=24),
    "kube": _named("    client-key-data: {}", "    token: {}", alphabet=_BASE64, least=60, most=200),
    "ssh": _named("sshpass -p {} ssh node17", "curl -s -u admin:{} https://x", least=8, most=16),
    "cookie": _named("Set-Cookie: session={}; HttpOnly", "cookie: sid={}", least=20),
    "munge": _named("munge_key={}", "MUNGE_KEY: {}", alphabet=_BASE64, least=40),
}  # fmt: skip
"""RELIABILITY 4.2, each with texts it has been seen in."""

_AROUND = (
    "step {n} loss 2.31 grad_norm 0.91 lr 1.0e-04 tokens_per_second 18234.1",
    '[rank3]: File "/opt/train/loop.py", line {n}, in forward',
    " iteration {n}/ 500000 | consumed samples: 307200 | elapsed time per iteration (ms): 1200.3 |",
    "{{'loss': 2.31, 'learning_rate': 1e-05, 'epoch': {n}}}",
    "",
    "2026-03-14 09:26:53,589 INFO [rank{n}] saving checkpoint",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Planted:
    """One secret in a piece of log."""

    kind: str
    secret: str
    text: str

    @property
    def at(self) -> int:
        """Where it stands."""
        return self.text.index(self.secret)

    def is_in(self, text: str) -> bool:
        """True when any twelve characters of it can be read."""
        parts = (
            self.secret[-12:],
            self.secret[len(self.secret) // 2 :][:12],
            self.secret[:12][-8:] + self.secret[12:16],
        )
        return any(len(part) >= 8 and part in text for part in parts)


def planted(count: int, seed: int) -> Iterator[Planted]:
    """So many secrets, each kind in turn, in random company."""
    chance = random.Random(seed)
    kinds = list(KINDS.items())
    for number in range(count):
        kind, make = kinds[number % len(kinds)]
        secret, text = make(chance)
        before = "\n".join(chance.choice(_AROUND).format(n=number) for _ in range(chance.randint(0, 3)))
        after = "\n".join(chance.choice(_AROUND).format(n=number) for _ in range(chance.randint(0, 3)))
        whole = f"{before}\n{text}\n{after}\n"
        cut = {
            "private key without its end": f"{before}\n{text}",
            "private key without its begin": f"{text}\n{after}\n",
        }
        yield Planted(kind, secret, cut.get(kind, whole))


_HEALTHY: tuple[str, ...] = (
    "step={n} loss=2.31 lr=0.0001 grad_norm=1.8 tokens_per_second=123456.7 commit={hex40}",
    " iteration {n}/  500000 | consumed samples: 307200 | elapsed time per iteration (ms): 1200.3 | loss scale: 1.0 |",
    "{{'loss': 2.31, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'num_tokens': {n}, 'epoch': 0.1}}",
    "Loading checkpoint shards from /ckpt/run42/global_step{n}/mp_rank_00_model_states.pt sha256 {hex64}",
    "tokenizer: eos_token='</s>' bos_token='<s>' pad_token='<pad>' pad_token_id={n} next_token={n}",
    "max_tokens: 4096, num_tokens={n}, tokens: 3.2B, token_type_ids, key_padding_mask, n_kv_heads=8",
    "git commit {hex40} branch main", "HEAD is now at {hex40} Merge pull request #{n}", "wandb: git commit {hex40}",
    "wandb: Run data is saved locally in /data/wandb/run-20260131_031207-{word}", "request id {uuid} took {n} ms",
    "uuid GPU-{uuid} bus 00000000:61:00.0", "data hash: {b64}", "tensor state {b64} of {n}",
    "NCCL INFO comm 0x{hex8} rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 61000 commId 0x{hex16} - Init COMPLETE",
    "KeyError: 'model.layers.{n}.self_attn.k_proj.weight'", "missing keys: ['layers.{n}.weight'], unexpected keys: []",
    "Saving model checkpoint to /out/checkpoint-{n}/model-{hex8}.safetensors", "md5: {hex32} /data/shard-{n}.bin",
    "[rank{n}]: ProcessGroupNCCL.cpp:607] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={n})",
    "rdzv_id={uuid} rdzv_endpoint=node17:29500 master_port=29500 run_id={word}",
    "epoch {n} | token_loss 2.3 | per_token=0.1 | tokens/s={n} | key=layer.{n} value={n}", "image sha256:{hex64}",
    "hydra.run.dir=outputs/2026-03-14/{n} +experiment=llama seed={n} run_name={word}", "cache key {hex32} hit",
    "/usr/lib/python3.11/site-packages/torch/utils/_pytree.py:{n}: UserWarning: {word}", "author: {word} <x@y.z>",
)  # fmt: skip


def healthy(count: int, seed: int) -> Iterator[str]:
    """So many lines without any secret."""
    chance = random.Random(seed)
    for number in range(count):
        digits = f"{chance.getrandbits(256):064x}"
        word = f"{digits[:6]}{_LETTERS[number % 62]}"
        yield _HEALTHY[number % len(_HEALTHY)].format(
            n=number,
            hex8=digits[:8],
            hex16=digits[:16],
            hex32=digits[:32],
            hex40=digits[:40],
            hex64=digits,
            word=word,
            uuid=f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:32]}",
            b64=_of(chance, _BASE64, 44) + "=",
        )
