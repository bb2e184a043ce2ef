"""Secrets are known by their name, whatever the case and the kind of path."""

import pytest

from offhook_wire.privacy import never_sent

pytestmark = pytest.mark.pure

SECRET = [
    ".env",
    ".env.local",
    ".env.production",
    ".envrc",
    "server.pem",
    "tls/private.key",
    "cert.p12",
    "cert.pfx",
    "site.crt",
    "site.cert",
    "id_rsa",
    "id_rsa.pub",
    "id_ed25519",
    "id_ed25519_work",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    "credentials",
    "credentials.json",
    "config/secrets.yml",
    "config/secrets.yaml",
    "vault.kdbx",
    ".dev.vars",
]
SECRET_PLACES = [".ssh/config", "me/.aws/config", ".gnupg/trustdb", "x/.kube/cache/a.json", ".kube"]
FINE = [
    "",
    "/",
    "..",
    "a.py",
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.local.example",
    "environment.py",
    "src/env/a.py",
    "keys.py",
    "key",
    "my_credentials.py",
    "secrets.py",
    "ssh/config",
    "rsa_id",
    "docs/pem.md",
    ".gitignore",
]


@pytest.mark.parametrize("path", SECRET + SECRET_PLACES)
def test_a_secret_is_one_wherever_it_lies(path: str) -> None:
    for spelled in (
        path,
        path.upper(),
        f"deep/er/{path}",
        f"/root/{path}",
        "C:\\Users\\me\\" + path.replace("/", "\\"),
        f"file:///root/{path}",
        f"FILE:///c%3A/{path.replace('.', '%2E')}",
        f"{path}/",
        f"{path}. ",
    ):
        assert never_sent(spelled), spelled


@pytest.mark.parametrize("path", FINE)
def test_other_files_may_be_read(path: str) -> None:
    for spelled in (path, path.upper(), f"/root/{path}", f"file:///root/{path}", "C:\\me\\" + path.replace("/", "\\")):
        assert not never_sent(spelled), spelled
