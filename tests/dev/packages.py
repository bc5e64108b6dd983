"""Packages of Debian for commands (tools/dev/install.sh), and the cache of packages for tests (tests/support/cached_packages.py)."""
import concurrent.futures
import contextlib
import os
import pathlib
import tempfile
import time
from unittest import mock

from cached_packages import cached
from sandbox import expect, sandbox

# Debian's Rust is looked for in a folder of the test's own.
INSTALL = "set -euo pipefail; . tools/dev/install.sh; rust_folder=$PWD/debian; install_for"
NOISE = "for number in {1..100}; do echo unpacking $number; done; for number in {1..100}; do echo setting up $number >&2; done"
USER, SUPERUSER = 1000, 0
RUST_OLD, RUST_NEW = "1.63.0", "1.95.0"


@contextlib.contextmanager
def debian(user=USER, cargo=RUST_NEW, rustc=RUST_NEW, install="", has_sudo=True):
    """A machine on which no package is installed; `install` is what apt-get does besides noting its call."""
    with sandbox() as machine:
        machine.add("id", f"echo {user}")
        machine.add("dpkg-query", "exit 1")
        machine.add("apt-get", install)
        machine.add("apt-cache", "echo '  Candidate: 1.95.0'")
        machine.add("cargo", f"echo cargo {cargo}")
        machine.add("rustc", f"echo rustc {rustc}")
        if has_sudo:
            machine.add("sudo", '"$@"')
        yield machine


def installed(machine):
    """The packages that apt-get was to install, once."""
    (call,) = [call for call in machine.calls("apt-get") if " install " in f" {call} "]
    return call.split()


def test_without_sudo_it_is_said_once_what_to_install():
    with debian(has_sudo=False) as machine:
        output, code = machine.run(f"{INSTALL} fmt")
        expect(code == 1 and not machine.calls("apt-get"), output)
        expect(output.count("\n") == 1 and "there is no sudo" in output, output)
        expect("as root: `apt-get install --no-install-recommends clang-format-16 git`; then run this again" in output, output)


def test_apt_is_quiet():
    for user in (USER, SUPERUSER):
        with debian(user, install=NOISE) as machine:
            output, code = machine.run(f"{INSTALL} fmt")
            expect(code == 0 and "installing clang-format-16 git" in output and "setting up" not in output and "unpacking" not in output, output)
            log = (machine.root / "build/install.log").read_text()
            expect("setting up 100\n" in log and "unpacking 100\n" in log, log)


def test_the_end_of_the_log_is_shown_when_apt_fails():
    with debian(install=f"{NOISE}; echo the disk is full; exit 100") as machine:
        output, code = machine.run(f"{INSTALL} fmt")
        expect(code == 1 and "the disk is full" in output and "unpacking 1\n" not in output and "as root: `apt-get install" in output, output)


def test_nothing_is_installed_where_nothing_is_missing():
    with debian() as machine:
        machine.add("dpkg-query", "echo -n installed")
        output, code = machine.run(f"{INSTALL} build test")
        expect((output, code) == ("", 0) and not machine.calls("sudo"), output)


def test_sudo_asks_once():
    with debian(rustc=RUST_OLD) as machine:
        machine.run(f"{INSTALL} build test ray")
        expect(len(machine.calls("sudo")) == 1, machine.calls("sudo"))
        expect({"g++", "strace", "redis-server", "cargo-web"} <= set(installed(machine)), installed(machine))


def test_rustc_and_cargo_are_both_new_enough():
    for cargo, rustc in ((RUST_NEW, RUST_OLD), (RUST_OLD, RUST_NEW), (RUST_NEW, ""), (RUST_NEW, RUST_NEW)):
        with debian(cargo=cargo, rustc=rustc) as machine:
            machine.run(f"{INSTALL} build")
            expect(("rustc-web" in installed(machine)) == (RUST_OLD in (cargo, rustc) or not rustc), (cargo, rustc, installed(machine)))


def test_the_rest_is_installed_where_apt_has_no_newer_rust():
    with debian(rustc=RUST_OLD) as machine:
        machine.add("apt-cache", "echo '  Candidate: 1.63.0'")
        output, code = machine.run(f"{INSTALL} build")
        expect("g++" in installed(machine) and "rustc-web" not in installed(machine), installed(machine))
        expect(code == 1 and "cargo is 1.95.0 and rustc is 1.63.0, and apt has no newer one" in output, output)


def test_the_archive_of_security_updates_is_added_for_a_newer_rust():
    with debian(rustc=RUST_OLD) as machine:
        machine.add("apt-cache", "if [ $1 = -o ]; then echo '  Candidate: 1.95.0'; fi")
        machine.run(f"{INSTALL} build")
        expect({"g++", "rustc-web", "-o"} <= set(installed(machine)) and len(machine.calls("sudo")) == 1, installed(machine))


def test_debians_rust_comes_before_an_older_one():
    install = f"mkdir -p debian; for program in cargo rustc; do echo echo $program {RUST_NEW} >debian/$program; chmod +x debian/$program; done"
    with debian(rustc=RUST_OLD, install=install) as machine:
        for _ in range(2):
            output, code = machine.run(f"{INSTALL} build; rustc --version")
            expect(code == 0 and output.endswith(f"rustc {RUST_NEW}\n"), output)
            machine.add("dpkg-query", "echo -n installed")
            expect(len(machine.calls("sudo")) == 1, "the second time, it is there")


def test_packages_are_installed_once():
    made = []

    def install(folder):
        made.append(folder)
        time.sleep(0.3)  # in which another installation would begin
        (folder / "package").touch()

    with tempfile.TemporaryDirectory() as cache, mock.patch.dict(os.environ, XDG_CACHE_HOME=cache):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            folders = list(pool.map(lambda _: cached("some", [pathlib.Path(__file__)], install), range(2)))
        expect(folders[0] == folders[1] and (folders[0] / "package").exists() and len(made) == 1, made)
