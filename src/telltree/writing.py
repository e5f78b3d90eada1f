"""Files are written whole or not at all."""

import contextlib
import os
import tempfile
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that at every moment, also after a crash, it has either its old content or all of the new."""
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those that a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
