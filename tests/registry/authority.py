"""A certificate authority for a test: makes server and client certificates, good ones and bad ones."""

import subprocess
from pathlib import Path


class Authority:
    """Signs certificates; each is a file of its own with its key beside it."""

    def __init__(self, home: Path, name: str = "Test authority") -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        self.file = home / "ca.pem"
        self._openssl(
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"),
            *("-keyout", "ca.key", "-out", "ca.pem", "-subj", f"/CN={name}"),
            *("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"),
        )

    def sign(self, name: str, *hosts: str, days: int = 30) -> Path:
        """Return a certificate for these hosts; negative days: one that has expired."""
        names = ",".join(f"{'IP' if host[0].isdigit() else 'DNS'}:{host}" for host in hosts) or "DNS:nowhere"
        (self.home / f"{name}.ext").write_text(f"subjectAltName={names}\n")
        self._openssl(
            *("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}"),
        )
        self._openssl(
            *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"),
            *("-out", f"{name}.pem", "-days", str(days), "-extfile", f"{name}.ext"),
        )
        return self.home / f"{name}.pem"

    def _openssl(self, *words: str) -> None:
        subprocess.run(["openssl", *words], cwd=self.home, check=True, capture_output=True)
