"""What must not leave a node, and what must stay readable."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.redaction import MaskingStream, mask

RNG = random.Random(20261129)


def made(alphabet, length):
    return "".join(RNG.choice(alphabet) for _ in range(length))


LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BASE64 = LETTERS + "+/"

# Each secret with a line as it really gets printed. None of them is anybody's: they are made here.
PLANTED = [
    (secret := "hf_" + made(LETTERS, 34), f"OSError: 401 Client Error. (Request ID: x) token {secret} is invalid"),
    (secret := "hf_" + made(LETTERS, 34), f"HF_TOKEN={secret}_and_more"),
    (secret := "api_org_" + made(LETTERS, 34), f"login(token='{secret}')"),
    (secret := made(HEX, 40), f"wandb: Appending key for api.wandb.ai to your netrc file: /root/.netrc {secret}"),
    (secret := made(HEX, 40), f"WANDB_API_KEY={secret} torchrun train.py"),
    (secret := made(HEX, 40), f"machine api.wandb.ai login user password {secret}"),
    (secret := "wandb_v1_" + made(LETTERS, 77), f"wandb login {secret}"),
    (secret := "sk-" + made(LETTERS, 48), f"openai.AuthenticationError: Incorrect API key provided: {secret}."),
    (secret := "sk-proj-" + made(LETTERS + "-_", 60), f"export OPENAI_API_KEY={secret}"),
    (secret := "sk-ant-api03-" + made(LETTERS + "-_", 90), f"x-api-key: {secret}"),
    (secret := "AKIA" + made(string.ascii_uppercase + "234567", 16), f"using credentials {secret} from env"),
    (secret := made(BASE64, 40), f"aws_secret_access_key = {secret}"),
    (secret := made(BASE64, 200), f"AWS_SESSION_TOKEN={secret}"),
    (secret := made(HEX, 64), f"GET https://b.s3.amazonaws.com/ckpt?X-Amz-Date=2026&X-Amz-Signature={secret}&x=1"),
    (secret := "AIza" + made(LETTERS + "-_", 35), f"key={secret}"),
    (secret := made(BASE64, 86) + "==", f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={secret};E=x"),
    (secret := made(LETTERS, 43), f"https://a.blob.core.windows.net/c/f?sv=2024&sig={secret}%3D"),
    (secret := "ghp_" + made(LETTERS, 36), f"remote: https://{secret}@github.com/o/r.git"),
    (secret := "github_pat_" + made(LETTERS + "_", 82), f"pip install git+https://{secret}@github.com/o/r"),
    (secret := "glpat-" + made(LETTERS + "-_", 20), f"PRIVATE-TOKEN: {secret}"),
    (secret := "pypi-" + made(LETTERS + "-_", 170), f"twine upload -p {secret}"),
    (secret := "npm_" + made(LETTERS, 36), f"//npm.example.org/:_authToken={secret}"),
    (secret := "xoxb-" + made(string.digits, 12) + "-" + made(LETTERS, 24), f"slack token {secret}"),
    (secret := "xapp-1-" + made(LETTERS, 40), f"SLACK_APP_TOKEN={secret}"),
    (secret := f"{made(LETTERS, 9)}/{made(LETTERS, 24)}", f"https://hooks.slack.com/services/T0/{secret}"),
    (
        secret := f"eyJ{made(LETTERS, 30)}.eyJ{made(LETTERS, 60)}.{made(LETTERS + '-_', 43)}",
        f"jwt={secret}",
    ),
    (secret := made(LETTERS, 40) + "7", f"Authorization: Bearer {secret}"),
    (secret := made(BASE64, 24) + "A1==", f"'Authorization': 'Basic {secret}'"),
    (secret := made(LETTERS, 12), f"redis://default:{secret}@registry.example:6379/0"),
    (secret := made(LETTERS + "$!%", 14) + "x", f"postgresql+psycopg2://mlflow:{secret}@db/mlflow"),
    (secret := made(LETTERS, 12), f"https_proxy=http://user:{secret}@proxy:3128"),
    (secret := "hunter2!", f'{{"user": "a", "password": "{secret}"}}'),
    (secret := "corr3ct-horse", f"--password {secret} --lr 1e-4"),
    (secret := "corr3ct-horse", f"python train.py --db-password={secret}"),
    (secret := made(LETTERS, 25), f"Namespace(lr=0.1, comet_api_key='{secret}', seed=1)"),
    (secret := made(LETTERS, 32) + "==", f"NEPTUNE_API_TOKEN={secret}"),
    (secret := made(LETTERS, 20), f"clearml: api.credentials.secret_key = {secret}"),
    (secret := made(LETTERS, 30), f'{{"auths": {{"https://index.docker.io/v1/": {{"auth": "{secret}"}}}}}}'),
    (secret := made(LETTERS, 40), f"    token: {secret}1"),
    (secret := made(LETTERS, 30), f"client-key-data: {secret}"),
    (secret := "s3cr3tpw", f"sshpass -p {secret} ssh node17"),
    (secret := "topsecret9", f"curl -s -u admin:{secret} https://x"),
    ("s3cret", "curl -u bob:s3cret https://x"),
    ("s3cret", "+ /usr/bin/curl -ubob:s3cret https://x"),
    ("s3cret", "curl -fsSLu 'bob:s3cret' https://x"),
    ("s3cret", "curl --user=bob:s3cret https://x"),
    ("s3cret", "curl --proxy-user bob:s3cret https://x"),
    ("s3cret", "['curl', '-u', 'bob:s3cret', 'https://x']"),
    (secret := made(LETTERS, 30), f"Set-Cookie: session={secret}; HttpOnly"),
    (secret := made(LETTERS, 24), f'\\"api_key\\": \\"{secret}\\"'),
    (secret := made(LETTERS, 24), f"export MY_SERVICE_SECRET='{secret}'"),
    (secret := made(LETTERS, 20), f"mlflow_tracking_password: {secret}"),
]

READABLE = [
    f"step=1200 loss=2.31 lr=0.0001 grad_norm=1.8 tokens_per_second=123456.7 commit={made(HEX, 40)}",
    " iteration     1200/  500000 | consumed samples:       307200 | elapsed time per iteration (ms): 1200.3 |",
    "{'loss': 2.31, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'num_tokens': 123456, 'epoch': 0.1}",
    f"Loading checkpoint shards from /ckpt/run42/global_step41000/mp_rank_00_model_states.pt sha256 {made(HEX, 64)}",
    "tokenizer: eos_token='</s>' bos_token='<s>' pad_token='<pad>' unk_token='<unk>' additional_special_tokens=[]",
    "max_tokens: 4096, num_tokens=1234567890, tokens: 3.2B, token_type_ids, key_padding_mask, n_kv_heads=8",
    f"git commit {made(HEX, 40)} branch main",
    f"HEAD is now at {made(HEX, 40)} Merge pull request",
    f"wandb: git commit {made(HEX, 40)}",
    "wandb: Run data is saved locally in /data/wandb/run-20260131_031207-3x9k2l1m",
    "uuid GPU-5a2b8c1d-1111-2222-3333-444455556666 bus 00000000:61:00.0",
    f"data hash: {made(BASE64, 64)}",
    "NCCL INFO comm 0x55d0c0a0 rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 61000 commId 0x9f1c2f3e4d5a6b7c",
    "AttributeError: 'NoneType' object has no attribute 'key'",
    "KeyError: 'model.layers.0.self_attn.k_proj.weight'",
    "missing keys: ['lm_head.weight'], unexpected keys: []",
    "key=value pairs: lr=0.1, wd=0.01",
    "The password authentication failed for user postgres",
    "Basic initialization of the optimizer finished; bearer of bad news",
    "https://docs.nvidia.com/deploy/xid-errors/index.html#topic_5",
    "token loss 2.31 | token: 50257 | first_token=17 | user_token='<|user|>'",
    "http://node17:29500/ master_port=29500 rdzv_endpoint=node17:29500",
    "PWD=/home/user/run42 OLDPWD=/home/user",
    "password: None, api_key=null, secret=***, token=<redacted>, WANDB_API_KEY=${WANDB_API_KEY}",
    "|    0   N/A  N/A     29436      C   python3                                    61440MiB |",
    "Secrets of the ancients: epoch 3 of 10 done",
    "use_auth_token is deprecated; pass token instead",
    "forward keys=['input_ids', 'labels'] attention_mask=torch.ones",
]


@pytest.mark.parametrize(("secret", "line"), PLANTED, ids=range(len(PLANTED)))
def test_a_secret_is_masked_wherever_it_stands(secret, line):
    """In the line alone, in the middle of a log, and cut anywhere by a copy in pieces."""
    assert secret not in mask(line).text
    assert secret not in mask(f"step=1 loss=2.0\n{line}\nstep=2 loss=2.1\n").text
    assert mask(line).count >= 1


@pytest.mark.parametrize("line", READABLE, ids=range(len(READABLE)))
def test_what_is_no_secret_stays_as_it_is(line):
    """Hashes, checkpoints, tokens of a model, and sentences about passwords."""
    assert mask(line) == mask(line)
    assert mask(line).text == line


def test_the_kind_of_a_secret_is_said():
    """A person sees that something stood there, and what."""
    assert mask(f"login hf_{made(LETTERS, 34)} ok").text == "login [masked: Hugging Face token] ok"


def test_masking_what_is_masked_changes_nothing():
    """Twice is the same as once, in an excerpt that passes two doors."""
    for _, line in PLANTED:
        once = mask(line).text
        assert mask(once).text == once


KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "".join(made(BASE64, 64) + "\n" for _ in range(12))
KEY_END = "-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    "text",
    [
        f"before\n{KEY}{KEY_END}\nafter step=1\n",
        f"before\n{KEY}",
        KEY.partition("\n")[2] + KEY_END + "\nafter step=1\n",
    ],
)
def test_a_private_key_is_masked_from_its_begin_to_its_end(text):
    """Or to the end of the excerpt when its end is missing, or from the start when its begin is."""
    masked = mask(text).text

    assert not any(line in masked for line in KEY.splitlines()[1:])
    assert ("step=1" in masked) == ("step=1" in text)


@given(
    picks=st.lists(st.integers(0, len(PLANTED) - 1), min_size=1, max_size=6),
    cuts=st.lists(st.integers(1, 60), min_size=1, max_size=40),
)
def test_where_a_copy_is_cut_into_pieces_makes_no_difference(picks, cuts):
    """No chunk border opens a gap: the pieces say what the whole says."""
    text = (
        "".join(f"step={at} loss=2.0\n{PLANTED[pick][1]}\n" for at, pick in enumerate(picks)) + KEY + KEY_END + "\nend"
    )
    data, stream, out, at = text.encode(), MaskingStream(), b"", 0
    while at < len(data):
        size = cuts[at % len(cuts)]
        out += stream.feed(data[at : at + size])
        at += size
    out += stream.close()

    whole = mask(text)
    assert out.decode() == whole.text
    assert stream.count == whole.count


@pytest.mark.parametrize("chunk", [1000, 65536, 70001])
def test_a_line_without_end_is_masked_in_pieces(chunk):
    """Memory is bounded, and a secret on the seam is still found."""
    secret = "hf_" + made(LETTERS, 34)
    filler = "loss 2.31 " * 6550
    data = (filler + f"x {secret} y " + filler + f"password={made(LETTERS, 3000)} " + filler).encode()
    stream, out = MaskingStream(), b""
    for at in range(0, len(data), chunk):
        out += stream.feed(data[at : at + chunk])
        assert len(stream._held) <= 65536 + chunk + 4096
    out += stream.close()

    assert secret.encode() not in out
    assert stream.count == 2
    assert out.count(b"loss 2.31") == data.count(b"loss 2.31")


@given(st.binary(max_size=4000))
def test_any_bytes_pass(data):
    """Junk comes out, and nothing is raised."""
    stream = MaskingStream()
    out = stream.feed(data) + stream.close()

    assert stream.count or out == data


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", ["a" * 60_000, "key" * 20_000, "=" * 60_000, "a.b-c_" * 10_000, "token" * 12_000])
def test_no_text_makes_it_hang(text):
    """Patterns are linear: a hostile line costs no more than a long one."""
    assert mask(text).count == 0
