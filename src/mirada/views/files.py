"""Writing a page to disk, all of it or nothing."""

import os
import secrets
import shutil
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text to `path`, replacing what is there.

    Nobody ever reads half a page, and a full disk leaves the old one. Follows links; writes straight into a
    device or a pipe. Raises OSError, with the old content in place.
    """
    real = Path(os.path.realpath(path))
    if real.exists() and not real.is_file():
        real.write_text(text, "utf-8", newline="\n")
        return
    if real.exists() and not os.access(real, os.W_OK):
        raise PermissionError(13, os.strerror(13), str(path))
    beside = real.with_name(f".mirada-{secrets.token_hex(8)}")
    try:
        with open(beside, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        if real.exists():
            shutil.copymode(real, beside)
        os.replace(beside, real)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
