"""Object stores (S3, Google, Azure) through obstore: names with bytes under an address such as `s3://bucket/lake`.

Credentials come from the usual places of each provider and are never written, shown or passed on: every process finds
its own. Failures are those of files: FileNotFoundError, FileExistsError, PermissionError, or an OSError with a reason.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail.errors import InputError, SourceUnreachable

_ADDRESS = re.compile(r"(s3a?|gs|az|abfss?)://([^/]+)/?(.*)", re.DOTALL)
_LISTINGS = 16  # at the same time: object stores answer a page of 1,000 names in some 0.1 s, however many ask
_FOLDERS = 4 * _LISTINGS  # arbitrary: beyond it, the pages of all names are likely fewer
_NO_BUCKET = "404 Not Found"
_CHUNK = 1 << 23  # of a download: 8 MB
# Where obstore finds credentials for S3 by itself, without asking a server that only machines of the provider have.
_S3_CREDENTIALS = (
    "AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_SKIP_SIGNATURE",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object: its name under the address, its length, when it was written (seconds), and a tag of its content."""

    name: str
    bytes: int
    modified: float
    tag: str


def is_remote(address: str | Path) -> bool:
    """Whether this names an object store, and not a file or folder."""
    return isinstance(address, str) and _ADDRESS.fullmatch(address) is not None


def split_address(address: str) -> tuple[str, str]:
    """The address of the folder, and the name of the object in it."""
    folder, _, name = address.rpartition("/")
    return folder, name


class Objects:
    """The objects under one address."""

    def __init__(self, address: str) -> None:
        found = _ADDRESS.fullmatch(address)
        if found is None:
            raise InputError(f"{address} is not the address of an object store, such as s3://bucket/folder.")
        scheme, self._bucket, folder = found.groups()
        if ":" in self._bucket or ("@" in self._bucket and not scheme.startswith("abfs")):
            raise InputError("An address must not hold credentials: give them by the environment or a profile.")
        self._scheme = "s3" if scheme == "s3a" else scheme
        self._folder = folder.strip("/")
        self.address = f"{self._scheme}://{self._bucket}" + (f"/{self._folder}" if self._folder else "")

    def entries(self, folder: str = "", deep: bool = True) -> Iterator[StoredObject]:
        """Every object in a folder, and at any depth if `deep`; a few subfolders are listed at the same time."""
        place = self._path(folder)
        with self._failures(folder):
            first = _obstore().list_with_delimiter(self._client, place or None)
            folders = first["common_prefixes"] if deep else []
            if len(folders) > _FOLDERS:  # a request for each would cost more than all names in order
                yield from self._list_all(place)
                return
            yield from (self._stored(found) for found in first["objects"])
            with ThreadPoolExecutor(_LISTINGS) as threads:
                for page in threads.map(self._list_all, folders):
                    yield from page

    def head(self, name: str) -> StoredObject:
        with self._failures(name):
            return self._stored(_obstore().head(self._client, self._path(name)))

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        with self._failures(name):
            if length is None and not start:
                return bytes(_obstore().get(self._client, self._path(name)).bytes())
            end = start + length if length is not None else self.head(name).bytes
            return bytes(_obstore().get_range(self._client, self._path(name), start=start, end=end))

    def download(self, name: str, to: Path) -> StoredObject:
        """Write the object into a file; returns what was fetched, whatever is written to the store meanwhile."""
        with self._failures(name):
            found = _obstore().get(self._client, self._path(name))
            with to.open("wb") as file:
                for chunk in found.stream(min_chunk_size=_CHUNK):
                    file.write(chunk)
            return self._stored(found.meta)

    def put(self, name: str, data: bytes | Path) -> None:
        with self._failures(name):
            _obstore().put(self._client, self._path(name), data)

    def put_if_absent(self, name: str, data: bytes) -> None:
        """Create an object; FileExistsError where there is one with other content: a retried request is one's own."""
        with self._failures(name):
            try:
                _obstore().put(self._client, self._path(name), data, mode="create", use_multipart=False)
            except _errors().AlreadyExistsError as error:
                if self.read(name) != data:
                    raise FileExistsError(errno.EEXIST, "exists already", f"{self.address}/{name}") from error

    def put_if_same(self, name: str, data: bytes, tag: str) -> None:
        """Replace an object whose tag is still this one; FileExistsError where another has replaced it meanwhile."""
        with self._failures(name):
            try:
                _obstore().put(self._client, self._path(name), data, mode={"e_tag": tag}, use_multipart=False)
            except _errors().PreconditionError as error:
                raise FileExistsError(errno.EEXIST, "has changed", f"{self.address}/{name}") from error

    def copy(self, name: str, to: str) -> None:
        """By the store itself: nothing passes through this machine."""
        with self._failures(name):
            _obstore().copy(self._client, self._path(name), self._path(to))

    def delete(self, names: Iterable[str]) -> None:
        paths = [self._path(name) for name in names]
        if paths:
            with self._failures(paths[0]), contextlib.suppress(FileNotFoundError):
                _obstore().delete(self._client, paths)

    def _list_all(self, prefix: str) -> list[StoredObject]:
        pages = _obstore().list(self._client, prefix or None, chunk_size=1000)
        return [self._stored(found) for page in pages for found in page]

    def _stored(self, found: Any) -> StoredObject:
        name = found["path"].removeprefix(f"{self._folder}/" if self._folder else "")
        return StoredObject(name, found["size"], found["last_modified"].timestamp(), found["e_tag"] or "")

    def _path(self, name: str) -> str:
        return "/".join(filter(None, (self._folder, name)))

    @property
    def _client(self) -> Any:
        return client(self._scheme, self._bucket)

    @contextlib.contextmanager
    def _failures(self, name: str) -> Iterator[None]:
        """Only the first line of what the library says: the rest is about its own insides."""
        place = f"{self.address}/{name}" if name else self.address
        errors = _errors()
        try:
            yield
        except FileNotFoundError as error:
            raise FileNotFoundError(errno.ENOENT, "not found", place) from error
        except PermissionError as error:
            raise PermissionError(errno.EACCES, "permission denied", place) from error
        except (errors.PermissionDeniedError, errors.UnauthenticatedError) as error:
            raise PermissionError(errno.EACCES, "permission denied", place) from error
        except errors.BaseError as error:
            reason = (str(error).strip() or "no reason given").splitlines()[0]
            if _NO_BUCKET in reason:
                raise FileNotFoundError(errno.ENOENT, "not found", place) from error
            raise OSError(errno.EIO, reason, place) from error


@functools.cache
def client(scheme: str, bucket: str) -> Any:
    """The library's client for a bucket."""
    from_url = _obstore().store.from_url
    if scheme != "s3":
        return from_url(f"{scheme}://{bucket}")
    options = {"allow_http": True} if os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://") else {}
    credentials = {} if any(map(os.environ.get, _S3_CREDENTIALS)) else _profile_credentials()
    return from_url(f"s3://{bucket}", client_options=options, **credentials)


def _profile_credentials() -> dict[str, Any]:
    """Those of a profile, a login or the machine, which boto3 finds; without it, the library asks the machine alone."""
    try:
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError:
        return {}
    try:
        return {"credential_provider": Boto3CredentialProvider()}
    except ValueError as error:
        raise SourceUnreachable(
            "There are no credentials for S3: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and its secret."
        ) from error


def _obstore() -> Any:
    try:
        import obstore
        import obstore.store
    except ModuleNotFoundError as error:
        raise InputError(
            "Object stores need the package obstore. Run `pip install 'dovetail-lake[stores]'`."
        ) from error
    return obstore


def _errors() -> Any:
    _obstore()
    from obstore import exceptions

    return exceptions
