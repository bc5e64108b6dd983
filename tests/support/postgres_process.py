"""A PostgreSQL server for tests: Debian's programs, run unprivileged in a folder of its own, reached by a Unix socket alone."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

SECONDS_MAX = 60
USER = "tenon"
# A user, and a group, that owns nothing on any system: the server refuses to run as root.
UNPRIVILEGED = 65534
MEMORY_BYTES_MIN = 2 << 30


def find_programs():
    """The folder with the newest version's `initdb` and `postgres`."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not found:
        raise RuntimeError("PostgreSQL's server is not installed; on Debian: apt install postgresql-15")
    return found[-1].parent


def find_memory():
    """A folder in memory, where the data does not wait for a disk that others use; None where there is not enough of it."""
    folder = pathlib.Path("/dev/shm")
    return folder if folder.is_dir() and shutil.disk_usage(folder).free > MEMORY_BYTES_MIN else None


class PostgresProcess:
    """Starts on construction, and ends with its `with` or with this process. `safe`: as on a disk that may lose power. `place`: the folder
    in which its own is made; by default in memory, where that is possible."""

    def __init__(self, *settings, safe=False, place=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tenon-pg-", dir=place or find_memory()))
        self.settings = ["listen_addresses=", f"unix_socket_directories={self.folder}", "max_connections=200", "shared_buffers=64MB",
                         *([] if safe else ["fsync=off"]), *settings]
        self.programs = find_programs()
        self.data = self.folder / "data"
        self.process = None
        if os.geteuid() == 0:
            os.chown(self.folder, UNPRIVILEGED, UNPRIVILEGED)
        self._run("initdb", "-D", self.data, "-U", USER, "-A", "trust", "--no-locale", "-E", "UTF8", "--no-sync")
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _command(self, program, *arguments):
        # It ends when this process does.
        command = ["setpriv", "--pdeathsig", "QUIT"]
        if os.geteuid() == 0:
            command += [f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups"]
        return [*command, str(self.programs / program), *map(str, arguments)]

    def _run(self, program, *arguments):
        done = subprocess.run(self._command(program, *arguments), cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS_MAX, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed: {done.stdout}")

    def start(self):
        options = [part for setting in self.settings for part in ("-c", setting)]
        with (self.folder / "server.log").open("a") as log:
            self.process = subprocess.Popen(self._command("postgres", "-D", self.data, *options), cwd=self.folder,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + SECONDS_MAX
        while subprocess.run([self.programs / "pg_isready", "-q", "-h", self.folder], check=False).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the database server does not start: " + (self.folder / "server.log").read_text()[-2000:])
            time.sleep(0.02)

    def stop(self, how=signal.SIGQUIT):
        """SIGQUIT: as a crash; SIGINT: clients are cut off, and what is in memory is written."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(how)
        self.process.wait(SECONDS_MAX)

    def crash(self):
        """Crashes, and starts again."""
        self.stop(signal.SIGQUIT)
        self.start()

    def create_database(self, name):
        """Returns the URL of a new database."""
        self._run("createdb", "-h", self.folder, "-U", USER, name)
        return self.url(name)

    def url(self, database="postgres", options=""):
        return f"postgres://{USER}@/{database}?host={self.folder}{options}"

    def query(self, text, database="postgres"):
        """The rows of a query: a list of lists of texts."""
        done = subprocess.run([shutil.which("psql") or self.programs / "psql", "-h", self.folder, "-U", USER, "-d", database, "-AtX",
                               "-F", "\t", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=SECONDS_MAX, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return [line.split("\t") for line in done.stdout.splitlines()]
