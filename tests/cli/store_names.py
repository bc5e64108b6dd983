"""One store under several names: symbolic links, hard links, mounts, another user."""
import os
import re
import shutil
import subprocess

from durable_runs import Store, expect
from store_damage import OTHER_USER, as_another_user
from tenon_process import TENON, tenon


def test_a_link_to_a_store_meets_its_owner(work):
    """A second process must not continue a run that the first one has."""
    store = Store(work)
    link = work / "link.store"
    link.symlink_to(store.path)
    (work / "napping.tn").write_text('fn main() -> String {\n    for n in 0..1000 { sleep(700) }\n    "done"\n}\n')
    with subprocess.Popen([TENON, "run", work / "napping.tn", "--model", f"script:{store.script}", "--store", store.path],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as owner:
        try:
            run = re.search(r"run (\w+)", owner.stderr.readline())[1]
            refused = tenon("resume", run, "--store", link, "--model", f"script:{store.script}")
            expect(refused, 1)
            assert f"in use by process {owner.pid}, which continues its runs; send it an answer" in refused.stderr, refused.stderr
            busy = tenon("store", "compact", "--store", link)
            expect(busy, 1)
            assert f"in use by process {owner.pid}" in busy.stderr, busy.stderr
            listed = [tenon("runs", "--store", path) for path in (store.path, link)]
            assert run in listed[0].stdout and listed[0].stdout == listed[1].stdout, listed
            assert not os.path.lexists(f"{link}.lock") and not os.path.lexists(f"{link}-wal")
            store.path.rename(work / "renamed.store")
            busy = tenon("store", "compact", "--store", work / "renamed.store")
            expect(busy, 1)
            assert "in use by another process, which opened it under another name" in busy.stderr, busy.stderr
        finally:
            owner.kill()


def test_a_store_with_several_names_is_refused(work):
    store = Store(work)
    run = store.start("two")
    os.link(store.path, work / "other.store")
    for path in (store.path, work / "other.store"):
        for words in (["runs"], ["resume", run], ["store", "check"], ["store", "backup", work / "copy.store"]):
            refused = tenon(*words, "--store", path)
            expect(refused, 1)
            assert "has 2 names (hard links)" in refused.stderr and "-samefile" in refused.stderr, refused.stderr
    (work / "other.store").unlink()
    expect(store.store("backup", work / "copy.store"), 0)
    expect(tenon("runs", "--store", work / "copy.store"), 0)


def test_a_store_that_is_mounted_without_its_folder_is_refused(work):
    store = Store(work)
    run = store.start("two")
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return
    (work / "mounts").mkdir()
    (work / "folder").mkdir()
    mounted = work / "mounts" / "runs.store"
    mounted.touch()
    mount = f"mount --bind '{store.path}' '{mounted}' && mount --bind '{work}' '{work}/folder' && exec \"$@\""

    def beside_mounts(*words):
        return subprocess.run(["unshare", "-m", "sh", "-c", mount, "sh", TENON, *map(str, words)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)

    shown = beside_mounts("runs", "--store", mounted)
    if "mount:" in shown.stderr or "unshare:" in shown.stderr:
        return
    for words in (["runs"], ["resume", run]):
        refused = beside_mounts(*words, "--store", mounted)
        expect(refused, 1)
        assert "mounted here without its folder" in refused.stderr, refused.stderr
    listed = beside_mounts("runs", "--store", work / "folder" / store.path.name)
    expect(listed, 0)
    assert run in listed.stdout, listed


def test_a_store_that_root_has_opened_stays_its_users(work):
    if os.geteuid() != 0:
        return
    store = Store(work)
    run = store.start("two")
    own = work / "own"
    own.mkdir()
    path = own / "runs.store"
    shutil.copy(store.path, path)
    os.chown(own, OTHER_USER, -1)
    os.chown(path, OTHER_USER, OTHER_USER)
    path.chmod(0o600)
    expect(tenon("resume", run, "--store", path, "--wait", "0.0.0", "--input", "7"), 3)
    as_other = as_another_user(work)
    expect(tenon("runs", "--store", path, **as_other), 0)
    expect(tenon("resume", run, "--store", path, "--wait", "0.1.0", "--input", "word", **as_other), 0, "7 word\n")
