"""A PostgreSQL server for tests of the Python package: Debian's programs, without privileges, in a temporary folder."""
import subprocess

from tenon.ray._local_postgres import LocalPostgres


class PostgresServer(LocalPostgres):
    """Many stores, each in a schema of its own. `fsync=off`: what a crash of the machine loses does not matter to tests."""

    def __init__(self, settings=()):
        super().__init__(["fsync=off", "shared_buffers=32MB", *settings])
        self._schemas = 0

    def new_url(self, options=""):
        """The URL of a new store. `options` as `tenon.lease=1000`."""
        self._schemas += 1
        return f"{self.url}&tenon.schema=store_{self._schemas}{'&' + options if options else ''}"

    def query(self, statement):
        """What psql prints for a statement."""
        done = subprocess.run([str(self.programs / "psql"), "-h", str(self.folder), "-U", "tenon", "-d", "postgres", "-At", "-c", statement],
                              capture_output=True, text=True, check=True)
        return done.stdout.strip()
