"""A PostgreSQL server in a temporary folder: to try things out, and for tests."""
from __future__ import annotations

import concurrent.futures
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable

from .._errors import Error

_USER = "tenon"
_UNPRIVILEGED = 65534  # a user, and a group, that owns nothing on any system; the server refuses to run as root
_SECONDS_MAX = 60.0
_STOP_SECONDS_MAX = 30.0


def find_programs() -> pathlib.Path:
    """The folder with the programs of the newest version that is installed."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    elsewhere = shutil.which("initdb")
    if elsewhere is None:
        raise Error("PostgreSQL's server is not installed; install it (on Debian: `apt install postgresql-15`), or give a store "
                    "with `--store postgres://…`", "Usage")
    return pathlib.Path(elsewhere).resolve().parent


class LocalPostgres:
    """It listens on a Unix socket in its folder alone, and ends with this process."""

    def __init__(self, settings: Iterable[str] = ()) -> None:
        self.programs = find_programs()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tenon-postgres-"))
        self._settings = ["listen_addresses=", f"unix_socket_directories={self.folder}", "max_connections=200", *settings]
        self._process: subprocess.Popen[bytes] | None = None
        self._starter = concurrent.futures.ThreadPoolExecutor(1)  # it would end with the thread that has started it
        try:
            self._make()
            self.start()
        except BaseException:
            self.close()
            raise

    def _make(self) -> None:
        if os.geteuid() == 0:
            os.chown(self.folder, _UNPRIVILEGED, _UNPRIVILEGED)
        made = subprocess.run(self._command("initdb", "-D", self.folder / "data", "-U", _USER, "-A", "trust", "--no-locale", "-E", "UTF8",
                                            "--no-sync"),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if made.returncode != 0:
            raise Error(f"initdb fails: {made.stdout}")

    def _command(self, program: str, *arguments: str | pathlib.Path) -> list[str]:
        whole = ["setpriv", "--pdeathsig", "QUIT"]
        if os.geteuid() == 0:
            whole += [f"--reuid={_UNPRIVILEGED}", f"--regid={_UNPRIVILEGED}", "--clear-groups"]
        return [str(part) for part in (*whole, self.programs / program, *arguments)]

    def start(self) -> None:
        """Starts it, and waits until it accepts connections."""
        command = self._command("postgres", "-D", self.folder / "data",
                                *(part for setting in self._settings for part in ("-c", setting)))
        log = self.folder / "server.log"
        with open(log, "ab") as output:
            self._process = self._starter.submit(
                lambda: subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                         start_new_session=True)).result()
        end = time.monotonic() + _SECONDS_MAX
        probe = [str(self.programs / "pg_isready"), "-q", "-h", str(self.folder)]
        while subprocess.run(probe, check=False).returncode != 0:
            if self._process.poll() is not None or time.monotonic() > end:
                raise Error(f"PostgreSQL does not start: {log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.01)

    def stop(self, is_crash: bool = False) -> None:
        """Ends all sessions, and writes everything. As a crash, nothing is written, and the next start recovers."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGQUIT if is_crash else signal.SIGINT)
        try:
            process.wait(_STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @property
    def url(self) -> str:
        """Of a store in the server's database."""
        return f"postgres://{_USER}@/postgres?host={self.folder}"

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> LocalPostgres:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
