# SPDX-License-Identifier: Apache-2.0
"""The files of the repository, for the checks."""
import os
import pathlib
import subprocess

SKIPPED = {".git", "build", "__pycache__"}


def files(root, *suffixes):
    """Paths below root, relative to it and sorted: what git tracks or would track, or, outside
    a git checkout, everything but build directories. Only these suffixes, if any are given."""
    root = pathlib.Path(root)
    names = _from_git(root)
    if names is None:
        names = _from_disk(root)
    paths = (pathlib.PurePosixPath(name) for name in sorted(set(names)))
    return [p for p in paths
            if (not suffixes or p.suffix in suffixes) and (root / p).is_file()]


def _from_git(root):
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "ls-files", "-z",
               "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return [name for name in os.fsdecode(listing).split("\0") if name]


def _from_disk(root):
    for here, directories, names in os.walk(root):
        directories[:] = [d for d in directories if d not in SKIPPED]
        for name in names:
            yield (pathlib.Path(here) / name).relative_to(root).as_posix()
