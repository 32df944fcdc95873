"""Files that are there whole or not at all, also after a power failure."""

import os
import secrets
from pathlib import Path


def write_bytes(path: Path, data: bytes) -> None:
    """Write and wait until it is on the disk. Raises OSError."""
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def replace_bytes(path: Path, data: bytes) -> None:
    """Put a file in the place of what is there: who reads finds the old one or the new.

    Raises OSError, with the old one in place.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        write_bytes(beside, data)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in it are on the disk."""
    if os.name != "posix":  # Windows cannot open a folder, and keeps names by itself
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
