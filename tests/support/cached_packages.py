"""Packages that a runner tests against and that are no part of this repository: taken once, each file checked by its hash,
and kept in the user's cache. Nothing else is fetched, so that a second run needs no network.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys


class Unreachable(Exception):
    """The packages are neither in the cache nor to be had now."""


def cached(name, pins, install):
    """The folder of what `install(folder)` has put there; `pins`: the files that say what that is."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    digest = hashlib.sha256(b"".join(pathlib.Path(pin).read_bytes() for pin in pins)).hexdigest()[:16]
    folder = cache / "tenon" / name / f"{digest}-python{sys.version_info.major}.{sys.version_info.minor}"
    if folder.is_dir():
        return folder
    new = folder.with_name(f"{folder.name}.new{os.getpid()}")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        install(new)
        new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder


def fetch(*command, **options):
    """Runs a package client. What is not what its hash says is an error; what cannot be had is Unreachable."""
    process = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             check=False, **options)
    if process.returncode == 0:
        return
    print(process.stdout)
    if "DO NOT MATCH THE HASHES" in process.stdout or "EINTEGRITY" in process.stdout:
        raise RuntimeError("a package is not what its hash says")
    raise Unreachable()


def install_python(requirements, folder):
    fetch(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile",
          "--require-hashes", "--only-binary", ":all:", "-r", requirements, "--target", folder)


def leave_out(what):
    """The closing lines of a runner that has nothing to test against."""
    print(f"left out: {what}: neither in the cache nor to be reached")
    print("0 passed, 0 failed")
    return 0
