"""A snapshot's folder, held against its manifest."""

import hashlib
import json

STEP = "[rank{rank}] step {step}/900 loss 2.5 grad_norm 1.0 lr 1e-4 WANDB_API_KEY=0123456789abcdef0123456789abcdef0123{rank:04d}\n"
"""A step line with a secret in it."""


def verified(folder):
    """Every file of the manifest is there as it says, and no other; how many secrets were masked."""
    manifest = json.loads((folder / "manifest.json").read_text())
    files = {file["name"]: file for piece in manifest["pieces"] for file in piece["files"]}
    assert set(files) == {path.name for path in folder.iterdir()} - {"manifest.json"}
    for name, file in files.items():
        data = (folder / name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file["bytes"], file["sha256"])
        assert b"0123456789abcdef" not in data
    return sum(file["masked"] for file in files.values())
