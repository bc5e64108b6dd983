"""Where the stores of tests are: in files, or in PostgreSQL while `in_database` lasts, so that the same tests run on both kinds."""
import atexit
import contextlib
import itertools

from postgres_process import PostgresProcess

_NUMBERS = itertools.count(1)
_SHARED = []
_USED = []


def shared_database():
    """The database server that the tests of a process share. It ends with the process."""
    if not _SHARED:
        _SHARED.append(PostgresProcess(safe=True))
        atexit.register(_SHARED[0].close)
    return _SHARED[0]


def new_url(*options):
    """The URL of a new store in the shared server: a schema of its own. `options`: more of the URL, as `tenon.lease=1000`."""
    return shared_database().url("postgres", "".join(f"&{option}" for option in (f"tenon.schema=store_{next(_NUMBERS)}", *options)))


@contextlib.contextmanager
def in_database():
    """Until the end, `new_store` is in the database."""
    _USED.append(new_url)
    try:
        yield
    finally:
        _USED.pop()


def new_store(work, name="runs.store"):
    """A store that does not exist yet: the path of a file in `work`, or a URL."""
    return _USED[-1]() if _USED else work / name
