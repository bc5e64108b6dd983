"""Stores that were damaged on the disk, that cannot be written, and backups of stores in use."""
import os
import pathlib
import re
import shlex
import shutil
import sqlite3

from durable_runs import Store, expect
from tenon_process import TENON, tenon

OTHER_USER = 65534  # owns nothing


def change_row(store, change):
    with sqlite3.connect(store.path) as database:
        database.execute(f"UPDATE runs SET {change}")
    database.close()


def test_a_damaged_summary_is_reported_and_derived_from_the_records(work):
    for number, change in enumerate(("state = 3", "state = 6", "wake_at = 9000000000000", "detail = '[]'",
                                     "title = 'other'", "last_batch = 0", "last_batch = last_batch + 1", "records = 0",
                                     "records = records + 1", "chain = zeroblob(32)")):
        folder = work / str(number)
        folder.mkdir()
        store = Store(folder)
        run = store.start("two")
        change_row(store, change)
        checked = store.store("check")
        expect(checked, 1)
        assert f"run {run}: its summary is damaged" in checked.stderr, checked.stderr
        listed = tenon("runs", "--store", store.path)
        expect(listed, 0)
        assert f"the summary of run {run} is damaged" in listed.stderr, listed.stderr
        resumed = store.resume(run, "--wait", "0.0.0", "--input", "7")
        assert resumed.returncode == 3, resumed
        assert f"the summary of run {run} was damaged" in resumed.stderr, resumed.stderr
        assert store.state(run) == "waiting"
        expect(store.store("check"), 0)
        assert store.list()[0]["function"] == "two"
        expect(store.resume(run, "--wait", "0.1.0", "--input", "word"), 0, "7 word\n")


def test_a_run_that_ended_gets_its_state_back(work):
    store = Store(work)
    process = store.run("short_nap")
    expect(process, 0, "awake\n")
    run = store.list()[0]["run"]
    change_row(store, "state = 1")
    expect(store.resume(run), 0, "awake\n")
    assert store.state(run) == "done"


def copy_as_killed(store, folder):
    """The store's files while a process has it open: what a kill leaves."""
    folder.mkdir()
    for end in ("", "-wal"):
        if os.path.exists(f"{store.path}{end}"):
            shutil.copy(f"{store.path}{end}", folder / f"runs.store{end}")


def test_a_damaged_log_is_rejected_and_repaired_with_a_copy(work):
    store = Store(work)
    keeps_log = sqlite3.connect(store.path) if store.path.exists() else None
    runs = [store.start("seen")]
    keeps_log = sqlite3.connect(store.path)
    keeps_log.execute("BEGIN")
    keeps_log.execute("SELECT count(*) FROM runs").fetchall()
    runs += [store.start("seen") for _ in range(4)]
    folder = work / "as killed"
    copy_as_killed(store, folder)
    keeps_log.close()
    damaged = Store(folder)
    log = pathlib.Path(f"{damaged.path}-wal")
    data = bytearray(log.read_bytes())
    assert len(data) > 32 + 4120 * 8, "the log is shorter than this test needs"
    data[32 + 4120 + 24 + 100] ^= 1
    log.write_bytes(data)
    refused = damaged.resume(runs[0], "--input", "true")
    expect(refused, 1)
    assert "acknowledged commits after it cannot be read" in refused.stderr, refused.stderr
    proposed = shlex.split(re.search("`(tenon store repair .*?)`", refused.stderr)[1])
    assert proposed == ["tenon", "store", "repair", "--store", str(damaged.path)], refused.stderr
    assert log.read_bytes() == bytes(data), "a refused store was changed"
    copy = work / "copy.store"
    for command in (("runs",), ("store", "backup", copy), ("store", "export", runs[-1], "--output", work / "run.tenon"),
                    ("trace", "hash", runs[0])):
        reading = tenon(*command, "--store", damaged.path)
        expect(reading, 1, "")
        assert reading.stderr == refused.stderr, reading.stderr
    assert not copy.exists()
    assert log.read_bytes() == bytes(data), "a reader changed the store"
    checked = damaged.store("check")
    expect(checked, 1)
    assert "is damaged" in checked.stderr, checked.stderr
    repaired = tenon(*proposed[1:])
    assert "-wal.damaged is a copy of all of it" in repaired.stderr, repaired
    assert f"runs {', '.join(runs[1:])} are missing now" in repaired.stderr, repaired
    assert pathlib.Path(f"{log}.damaged").read_bytes() == bytes(data)
    expect(damaged.store("check"), 0)


def test_damage_to_the_last_frame_of_the_log_is_a_warning(work):
    store = Store(work)
    runs = [store.start("seen")]
    keeps_log = sqlite3.connect(store.path)
    keeps_log.execute("BEGIN")
    keeps_log.execute("SELECT count(*) FROM runs").fetchall()
    runs.append(store.start("seen"))
    copy_as_killed(store, work / "killed")
    keeps_log.close()
    damaged = Store(work / "killed")
    log = pathlib.Path(f"{damaged.path}-wal")
    data = bytearray(log.read_bytes())
    data[-1000] ^= 1
    log.write_bytes(data)
    listed = tenon("runs", "--store", damaged.path)
    expect(listed, 0)
    assert "is damaged, in the last commit of the log" in listed.stderr, listed.stderr
    checked = damaged.store("check")
    expect(checked, 1)
    assert "is damaged, in the last commit of the log" in checked.stderr, checked.stderr
    resumed = damaged.resume(runs[0], "--input", "true")
    expect(resumed, 0)
    assert "is damaged, in the last commit of the log" in resumed.stderr, resumed.stderr
    expect(damaged.store("check"), 0, None, "")


def as_another_user(work):
    """Options of `tenon` for a user who is not root, and may do what the modes of files in `work` say. The binary may be in a folder
    that only root can read."""
    if os.geteuid() != 0:
        return {}
    work.chmod(0o755)
    binary = work / "tenon"
    shutil.copy(TENON, binary)
    binary.chmod(0o755)
    for file in [*work.glob("*.tn"), *work.glob("*.script")]:
        file.chmod(0o644)  # whatever the umask is
    return {"user": OTHER_USER, "cwd": work, "binary": binary, "environment": {"HOME": str(work)}}


def test_a_store_that_may_not_be_written_for_a_while(work):
    store = Store(work)
    run = store.start("two")
    own = work / "own"
    own.mkdir()
    path = own / "runs.store"
    shutil.copy(store.path, path)
    as_other = as_another_user(work)
    if as_other:
        os.chown(own, OTHER_USER, -1)
        os.chown(path, OTHER_USER, -1)
    path.chmod(0o400)
    refused = tenon("resume", run, "--store", path, "--wait", "0.0.0", "--input", "1", **as_other)
    expect(refused, 1)
    assert "may not write the store" in refused.stderr, refused.stderr
    expect(tenon("runs", "--store", path, **as_other), 0)
    path.chmod(0o600)
    expect(tenon("resume", run, "--store", path, "--wait", "0.0.0", "--input", "7", **as_other), 3)


def test_a_store_that_cannot_be_written_is_read(work):
    store = Store(work)
    run = store.start("two")
    closed = work / "closed"
    closed.mkdir()
    shutil.copy(store.path, closed / "runs.store")
    (closed / "runs.store").chmod(0o444)
    closed.chmod(0o555)
    path = closed / "runs.store"
    as_other = as_another_user(work)
    try:
        expect(tenon("runs", "--store", path, **as_other), 0)
        expect(tenon("store", "check", "--store", path, **as_other), 0, None, "")
        expect(tenon("trace", "hash", run, "--store", path, **as_other), 0)
        refused = tenon("resume", run, "--store", path, "--wait", "0.0.0", "--input", "1", **as_other)
        expect(refused, 1)
    finally:
        closed.chmod(0o755)


def test_a_store_whose_creation_was_cut_off_has_no_runs(work):
    path = work / "runs.store"
    path.touch()
    expect(tenon("runs", "--store", path), 0, "")
    expect(tenon("store", "check", "--store", path), 0, "0 runs, 0 records, 0 contents, 0 problems\n")
    expect(tenon("store", "owners", "--store", path), 0, "")
    expect(tenon("store", "backup", work / "copy.store", "--store", path), 0)
    expect(tenon("runs", "--store", work / "copy.store"), 0, "")
    assert path.stat().st_size == 0, "a reader changed the file"
    expect(tenon("trace", "hash", "01jzzzzzzzzzzzzzzzzzzzzzzz", "--store", path), 1)


def test_a_backup_is_a_store(work):
    store = Store(work)
    run = store.start("two")
    copy = work / "copy.store"
    expect(store.store("backup", copy), 0, "", "")
    assert copy.stat().st_mode & 0o777 == 0o600
    expect(store.store("check", path=copy), 0)
    expect(tenon("resume", run, "--store", copy, "--wait", "0.0.0", "--input", "7"), 3)
    again = store.store("backup", copy)
    expect(again, 1)
    assert "File exists" in again.stderr, again.stderr
    assert not (work / "copy.store.partial").exists()
