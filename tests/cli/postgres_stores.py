"""Stores in PostgreSQL: each command that takes a store, what several processes on one store see, and messages about the server, its
databases and its rights. Tests of durable_runs and conversations are run again with a store there."""
import json
import re
import shlex
import signal
import socket
import subprocess
import threading
import time
import urllib.request

import conversations
import durable_runs
from durable_runs import Store, expect, expect_error
from store_places import in_database, new_url, shared_database
from tenon_process import TENON, find_run, free_port, tenon

PASSWORD = "open-sesame"
ALSO_IN_DATABASES = (
    durable_runs.test_a_waiting_run_prints_how_to_continue, durable_runs.test_a_run_with_a_store_that_does_not_wait,
    durable_runs.test_resume_needs_neither_source_nor_script_for_recorded_outcomes,
    durable_runs.test_resume_of_a_finished_run_shows_its_end_again, durable_runs.test_a_failed_run_keeps_its_failure,
    durable_runs.test_answers_that_do_not_fit_are_rejected, durable_runs.test_answers_without_a_wait,
    durable_runs.test_several_people_answer_at_once, durable_runs.test_several_people_cancel_at_once,
    durable_runs.test_two_questions_in_either_order, durable_runs.test_agents_in_branches_wait_each,
    durable_runs.test_questions_in_loops_one_process_each, durable_runs.test_time_and_chance_are_the_same_after_a_resume,
    durable_runs.test_waiting_for_time, durable_runs.test_cancel, durable_runs.test_runs_are_listed_oldest_first,
    durable_runs.test_export_and_import_into_another_store, durable_runs.test_compact_changes_no_run,
    durable_runs.test_an_answer_that_comes_too_late, durable_runs.test_killed_while_the_model_answers,
    durable_runs.test_questions_are_listed_while_another_effect_is_pending, durable_runs.test_both_durabilities_record,
    durable_runs.test_interrupted_a_recorded_run_is_only_left, durable_runs.test_a_run_that_works_takes_answers_and_its_end_from_others,
    conversations.test_an_open_conversation_takes_answers_and_cancellations_from_others, conversations.test_a_conversation_is_left_and_continued,
    conversations.test_a_turn_that_is_resumed, conversations.test_a_handoff_lasts,
    conversations.test_a_conversation_that_does_not_exist, conversations.test_a_changed_file_changes_no_conversation,
    conversations.test_a_run_that_is_not_a_conversation, conversations.test_a_question_with_a_deadline_is_asked_at_once)


def in_databases(test):
    def again(work):
        with in_database():
            test(work)
    return again


for one in ALSO_IN_DATABASES:
    globals()[one.__name__] = in_databases(one)


class Database(Store):
    """A store in a database of the shared server, with a program and a script in a folder."""

    def __init__(self, work, script='summarize => "short"\n', url=None):
        with in_database():
            super().__init__(work, script)
        self.path = url or self.path

    def tenon(self, *words, **settings):
        return tenon(*words, "--store", self.path, **settings)

    def query(self, text):
        """The rows of a query in the store's schema."""
        schema = re.search(r"tenon\.schema=(\w+)", self.path)[1]
        return shared_database().query(f"SET search_path = {schema}; {text}")[1:]

    def check(self):
        checked = self.store("check")
        expect(checked, 0, None, "")
        assert checked.stdout.endswith(" 0 problems\n"), checked.stdout

    def serve(self, *options):
        """A server with the program, and its port."""
        process = subprocess.Popen([TENON, "serve", str(self.program), "--model", f"script:{self.script}", "--store", self.path, "--port", "0",
                                    *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        line = process.stderr.readline()
        while line and "http://" not in line:
            line = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if found is None:
            end(process)
        assert found, "the server does not start"
        threading.Thread(target=process.stderr.read, daemon=True).start()
        return process, int(found[1])


def end(process):
    process.kill()
    process.wait()


def begin(port, function):
    """Starts a run at a server, and returns its name."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/runs", json.dumps({"fn": function}).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)["run"]


def test_recorded_runs_are_read_as_in_a_file(work):
    """trace, replay and fork."""
    store = Database(work)
    run = store.start()
    expect(store.resume(run, "--input", "true"), 0, "short true\n", "")
    file = work / "copy.store"
    expect(tenon("store", "copy", store.path, file), 0, "1 run copied, 0 were there, 0 notes, 0 problems\n", "")
    for words in (["trace", "show", run], ["trace", "hash", run], ["trace", "artifacts", run], ["trace", "diff", run, run]):
        shown = store.tenon(*words)
        assert shown.returncode == 0 and shown.stdout, (words, shown)
        expect(tenon(*words, "--store", file), 0, shown.stdout, shown.stderr)
    replayed = store.tenon("replay", run)
    expect(replayed, 0)
    expect(tenon("replay", run, "--store", file), 0, replayed.stdout)
    records = store.list()[0]["records"]
    forked = store.tenon("fork", run, "--at", "1", "--model", f"script:{store.script}")
    expect(forked, 3, "")
    fork = re.match(rf"tenon: run (\w+) is a fork of run {run}\n", forked.stderr)[1]
    expect(store.resume(fork, "--input", "false"), 0, "short false\n")
    assert store.tenon("trace", "diff", run, fork).returncode == 1
    assert next(one["records"] for one in store.list() if one["run"] == run) == records
    artifacts = work / "run.json"
    artifacts.write_text(store.tenon("trace", "artifacts", run).stdout)
    expect(tenon("trace", "reconstruct", artifacts, store.program, "--hash"), 0, store.tenon("trace", "hash", run).stdout)
    store.check()


def test_a_run_of_another_process_is_answered_through_it(work):
    store = Database(work)
    run = store.start("two")
    server, port = store.serve()
    try:
        owners = store.store("owners")
        expect(owners, 0, None, "")
        assert re.fullmatch(rf"\d+  host  \d+ runs  process {server.pid} on \S+\n", owners.stdout), owners.stdout
        (owner,) = json.loads(store.store("owners", "--json").stdout)
        assert owner["role"] == "host" and 0 < owner["lease_ms"] <= 5_000 and owner["pool"] == "", owner
        assert owner["label"].startswith(f"process {server.pid} on ") and owners.stdout.startswith(f"{owner['owner']}  "), owner
        passed_on = store.resume(run, "--wait", "0.0.0", "--input", "7")
        expect(passed_on, 0, "")
        assert "accepted by a server of the store" in passed_on.stderr, passed_on.stderr
        expect_error(store.store("compact"), 1, f"process {server.pid} on ", "uses the store")
        napping = begin(port, "slow")
        expect(store.tenon("cancel", napping, "--reason", "too long"), 0, "")
        expect_error(store.resume(napping), 1, "the run was cancelled: too long")
        store.check()
    finally:
        end(server)
    expect(store.resume(run, "--wait", "0.1.0", "--input", "word"), 0, "7 word\n")
    store.check()


def test_a_killed_process_is_not_listed_for_long(work):
    """Also when there is no other one that takes its runs."""
    store = Database(work, url=new_url("tenon.lease=500"))
    server = store.serve()[0]
    assert len(json.loads(store.store("owners", "--json").stdout)) == 1
    end(server)
    time.sleep(0.6)
    expect(store.store("owners"), 0, "", "")
    expect(store.store("owners", "--json"), 0, "[]\n", "")


def test_copies_go_both_ways(work):
    store = Store(work)
    first, second, forgotten = store.start("two"), store.start(), store.start()
    expect(store.resume(first, "--wait", "0.0.0", "--input", "7"), 3, "")
    expect(store.store("forget", forgotten), 0)
    there, back = new_url(), work / "back.store"
    expect(tenon("store", "copy", store.path, there), 0, "3 runs copied, 0 were there, 0 notes, 0 problems\n", "")
    expect(tenon("store", "copy", store.path, there), 0, "0 runs copied, 3 were there, 0 notes, 0 problems\n", "")
    expect(tenon("store", "copy", there, back), 0, "3 runs copied, 0 were there, 0 notes, 0 problems\n", "")
    listed = tenon("runs", "--store", store.path, "--json").stdout
    for path in (there, back):
        expect(tenon("store", "check", "--store", path), 0, None, "")
        expect(tenon("runs", "--store", path, "--json"), 0, listed, "")
        for run in (first, second):
            expect(tenon("trace", "hash", run, "--store", path), 0, tenon("trace", "hash", run, "--store", store.path).stdout, "")
        expect(tenon("resume", first, "--store", path, "--wait", "0.1.0", "--input", "word"), 0, "7 word\n")
        expect_error(tenon("resume", forgotten, "--store", path), 1, "was forgotten")
    expect(store.resume(second, "--input", "true"), 0, "short true\n")
    expect(tenon("resume", second, "--store", there, "--input", "false"), 0, "short false\n")
    differing = tenon("store", "copy", store.path, there)
    expect(differing, 1, "0 runs copied, 1 was there, 0 notes, 2 problems\n")
    assert first in differing.stderr and second in differing.stderr, differing.stderr
    assert tenon("store", "copy", there, there).returncode == 2


def test_a_store_in_use_is_not_copied_and_a_backup_is_made(work):
    store = Database(work)
    run = store.start("two")
    server = store.serve()[0]
    try:
        expect_error(tenon("store", "copy", store.path, work / "copy.store"), 1, f"process {server.pid} on ", "uses the store")
        copy = work / "backup.store"
        expect(store.store("backup", copy), 0, "", "")
        assert copy.stat().st_mode & 0o777 == 0o600
        expect_error(store.store("backup", copy), 1, "File exists")
    finally:
        end(server)
    expect(store.store("check", path=copy), 0, None, "")
    expect(tenon("resume", run, "--store", copy, "--wait", "0.0.0", "--input", "7"), 3, "")
    restored = new_url()
    expect(tenon("store", "copy", copy, restored), 0, "1 run copied, 0 were there, 0 notes, 0 problems\n", "")
    expect(tenon("resume", run, "--store", restored, "--wait", "0.1.0", "--input", "word"), 0, "7 word\n")


def test_forget_removes_the_contents(work):
    store = Database(work, 'summarize => "a-secret-to-forget"\n')
    run = store.start()
    kept = store.start("two")
    rows = "SELECT (SELECT count(*) FROM contents), (SELECT count(*) FROM batches), position('a-secret-to-forget'::bytea in string_agg(bytes, '')) > 0 FROM batches"
    assert store.query(rows)[0][2] == "t", store.query(rows)
    expect(store.store("forget", run), 0, "", "")
    assert store.query(rows)[0][2] == "f", store.query(rows)
    assert store.query("SELECT count(*) FROM batches b JOIN runs r ON r.id = b.run WHERE r.state = 6") == [["0"]]
    expect_error(store.resume(run, "--input", "true"), 1, "was forgotten")
    expect_error(store.store("forget", "nosuchrun"), 1, "no run nosuchrun")
    assert store.state(run) == "forgotten" and store.state(kept) == "waiting"
    store.check()


def test_a_flipped_byte_is_found_and_a_damaged_summary_is_repaired(work):
    store = Database(work)
    run, other = store.start("two"), store.start("two")
    store.query(f"UPDATE runs SET state = 3 WHERE name = '{run}'")
    checked = store.store("check")
    expect(checked, 1)
    assert f"run {run}: its summary is damaged" in checked.stderr and other not in checked.stderr, checked.stderr
    repaired = store.store("repair")
    expect(repaired, 0)
    assert run in repaired.stderr, repaired.stderr
    store.check()
    expect(store.resume(run, "--wait", "0.0.0", "--input", "7"), 3, "")
    store.query(f"UPDATE batches SET bytes = set_byte(bytes, 20, get_byte(bytes, 20) # 1) WHERE run = (SELECT id FROM runs WHERE name = '{other}') AND first = 1")
    expect_error(store.resume(other, "--wait", "0.0.0", "--input", "7"), 1, other)
    checked = store.store("check")
    expect(checked, 1)
    assert f"run {other}, record 1" in checked.stderr and run not in checked.stderr, checked.stderr


def test_secrets_are_sealed(work):
    (work / "secret.tn").write_text('fn main(secret key: String) -> String {\n    let sure = ask<Boolean>("Sure?")\n    "{{ sure }}"\n}\n')
    store = Database(work)
    words = ["run", work / "secret.tn", "--model", f"script:{store.script}", "--arg-env", "key=CODE"]
    expect_error(store.tenon(*words, environment={"CODE": "p4ss-w0rd-of-a-user"}), 1, "TENON_SECRET_KEY")
    variables = {"CODE": "p4ss-w0rd-of-a-user", "TENON_SECRET_KEY": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"}
    started = store.tenon(*words, environment=variables)
    expect(started, 3, "")
    dump = subprocess.run(["pg_dump", "-h", shared_database().folder, "-U", "tenon", "postgres"], stdout=subprocess.PIPE, check=True, timeout=60).stdout
    assert b"p4ss-w0rd" not in dump and b"p4ss-w0rd".hex().encode() not in dump
    assert b"$secret".hex().encode() in dump, "the sealed value is there"
    expect(store.tenon("resume", find_run(started.stderr), "--input", "true", environment=variables), 0, "true\n")


def test_two_processes_may_continue_different_runs_at_once(work):
    store = Database(work)
    run, other = store.start("rounds"), store.start("rounds")
    (work / "slow.tn").write_text('fn main() -> String {\n    for n in 0..4 { sleep(900) }\n    "awake"\n}\n')
    process = subprocess.Popen([TENON, "run", str(work / "slow.tn"), "--model", f"script:{store.script}", "--store", store.path],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        own = find_run(process.stderr.readline())
        expect(store.resume(run, "--input", "true"), 3, "")
        expect_error(store.resume(own), 1, f": run {own}: ", " continues it; send it an answer with `--input`")
        expect(store.resume(other, "--input", "false"), 3, "")
        assert process.communicate(timeout=30)[0] == "awake\n"
    finally:
        end(process)
    store.check()


def guarded(database):
    """Roles and databases for tests of rights: URLs and messages."""
    postgres = shared_database()
    if not postgres.query("SELECT 1 FROM pg_roles WHERE rolname = 'guarded'"):
        postgres.query(f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'")
        file = postgres.data / "pg_hba.conf"
        file.write_text("local all guarded scram-sha-256\n" + file.read_text())
        postgres.query("SELECT pg_reload_conf()")
    postgres.create_database(database)
    return postgres


def url_of(postgres, database, password=PASSWORD):
    secret = f":{password}" if password else ""
    return f"postgres://guarded{secret}@/{database}?host={postgres.folder}"


def show_no_password(process, *passwords):
    for password in (PASSWORD, *passwords):
        assert password not in process.stdout + process.stderr, process
    return process


def test_a_wrong_password_is_never_shown(work):
    postgres = guarded("passwords")
    store = Database(work)
    commands = (["run", store.program, "--model", f"script:{store.script}"], ["runs"], ["resume", "x"], ["store", "check"],
                ["serve", store.program, "--model", f"script:{store.script}", "--port", "0"])
    for words in commands:
        expect_error(show_no_password(tenon(*words, "--store", url_of(postgres, "passwords", "hunter2")), "hunter2"), 1,
                     'password authentication failed for user "guarded"', "PGPASSWORD", f"postgres://guarded@/passwords?host={postgres.folder}")
    expect_error(tenon("runs", "--store", url_of(postgres, "passwords", "")), 1, "no password supplied", "PGPASSWORD")
    expect_error(show_no_password(tenon("runs", "--store", f"postgres://guarded:a/b@/passwords?host={postgres.folder}"), "a/b"), 1, "%2F")
    for url in (f"{url_of(postgres, 'passwords', '')}&password=hunter2", f"postgres://guarded:hunter2@/passwords?host={postgres.folder}&wings=1",
                f"postgres://guarded:hun@hunter2@/passwords?host={postgres.folder}", f"{url_of(postgres, 'passwords', '')}&Password=hunter2",
                f" postgres://guarded:hunter2@/passwords?host={postgres.folder}", "host=127.0.0.1 user=guarded password=hunter2"):
        refused = show_no_password(tenon("run", store.program, "--model", f"script:{store.script}", "--store", url, cwd=work), "hunter2")
        expect(refused, 1, "")
    assert not [path for path in work.iterdir() if "hunter2" in path.name], "no file has a password as its name"


def test_the_password_comes_from_where_libpq_finds_it(work):
    postgres = guarded("found")
    postgres.query("GRANT CREATE ON DATABASE found TO guarded")
    store = Database(work, url=url_of(postgres, "found", ""))
    with_variable = tenon("run", store.program, "--fn", "two", "--model", f"script:{store.script}", "--store", store.path,
                          environment={"PGPASSWORD": PASSWORD})
    expect(show_no_password(with_variable), 3, "")
    assert f"--store {shlex.quote(store.path)} --wait WAIT --input ANSWER" in with_variable.stderr, with_variable.stderr
    passwords = work / "pgpass"
    passwords.write_text(f"*:*:found:guarded:{PASSWORD}\n")
    passwords.chmod(0o600)
    expect(tenon("runs", "--store", store.path, environment={"PGPASSFILE": str(passwords)}), 0, None, "")
    in_url = url_of(postgres, "found")
    expect(show_no_password(tenon("run", store.program, "--fn", "two", "--model", f"script:{store.script}", "--store", in_url)), 3, "")
    assert "guarded" not in tenon("store", "owners", "--store", in_url).stdout


def test_databases_and_schemas_that_do_not_exist(work):
    postgres = shared_database()
    store = Database(work)
    missing = f"postgres://tenon@/nowhere?host={postgres.folder}"
    for words in (["run", store.program, "--model", f"script:{store.script}"], ["runs"], ["store", "check"]):
        expect_error(tenon(*words, "--store", missing), 1, missing, 'database "nowhere" does not exist', "createdb")
    for words in (["resume", "x"], ["runs"], ["cancel", "x"], ["store", "check"], ["store", "compact"], ["store", "forget", "x"],
                  ["store", "export", "x", "--output", work / "file"], ["store", "backup", work / "file"], ["store", "owners"],
                  ["trace", "hash", "x"], ["replay", "x"]):
        expect_error(store.tenon(*words), 1, "the store does not exist", "`tenon run FILE --store` creates")
    assert not (work / "file").exists() and postgres.query("SELECT 1 FROM pg_namespace WHERE nspname = '"
                                                           + re.search(r"tenon\.schema=(\w+)", store.path)[1] + "'") == []
    for option, words in (("tenon.schema=Runs", "small letters"), ("tenon.lease=1", "from 500 to 3600000"), ("tenon.wings=1", "there is no option")):
        expect_error(tenon("runs", "--store", f"{missing}&{option}"), 1, words)


def test_rights_that_are_missing(work):
    postgres = guarded("rights")
    url = url_of(postgres, "rights")
    store = Database(work, url=url)
    words = ["run", store.program, "--fn", "two", "--model", f"script:{store.script}"]
    expect_error(show_no_password(store.tenon(*words)), 1, "permission denied for database rights", 'CREATE SCHEMA "tenon" AUTHORIZATION')
    postgres.query('CREATE SCHEMA "tenon" AUTHORIZATION guarded', "rights")
    started = store.tenon(*words)
    expect(started, 3, "")
    run = find_run(started.stderr)
    # A role that may only look.
    postgres.query("CREATE ROLE onlooker LOGIN; GRANT USAGE ON SCHEMA tenon TO onlooker; GRANT SELECT ON ALL TABLES IN SCHEMA tenon TO onlooker", "rights")
    looking = f"postgres://onlooker@/rights?host={postgres.folder}"
    for some in (["runs"], ["store", "check"], ["trace", "hash", run], ["store", "backup", work / "copy.store"], ["store", "owners"]):
        expect(tenon(*some, "--store", looking), 0, None, "")
    for some in (["resume", run, "--wait", "0.0.0", "--input", "1"], words, ["store", "compact"], ["store", "forget", run]):
        expect_error(tenon(*some, "--store", looking), 1, "permission denied", "grant the role the rights")
    postgres.query("CREATE ROLE stranger LOGIN")
    expect_error(tenon("runs", "--store", looking.replace("onlooker", "stranger")), 1, "may not use the schema `tenon`")
    expect(store.resume(run, "--wait", "0.0.0", "--input", "7"), 3, "")


def test_a_server_that_only_reads(work):
    postgres = shared_database()
    url = postgres.create_database("frozen")
    store = Database(work, url=url)
    run = store.start("two")
    postgres.query("ALTER DATABASE frozen SET default_transaction_read_only = on")
    for words in (["runs"], ["store", "check"], ["trace", "hash", run], ["store", "owners"]):
        expect(store.tenon(*words), 0, None, "")
    for words in (["run", store.program, "--model", f"script:{store.script}"], ["resume", run], ["store", "forget", run]):
        expect_error(store.tenon(*words), 1, "read-only transaction", "ALTER DATABASE … RESET default_transaction_read_only")
    postgres.query("ALTER DATABASE frozen RESET default_transaction_read_only")
    expect(store.resume(run, "--wait", "0.0.0", "--input", "7"), 3, "")


def test_a_server_that_cannot_be_reached(work):
    store = Database(work)
    (work / "empty").mkdir()
    for host, reason in ((f"127.0.0.1:{free_port()}/runs", "Connection refused"), (f"/runs?host={work / 'empty'}", "No such file"),
                         ("no-such-host.invalid/runs", "no-such-host.invalid")):
        url = f"postgres://tenon:{PASSWORD}@{host}"
        for words in (["runs"], ["run", store.program, "--model", f"script:{store.script}"]):
            expect_error(show_no_password(tenon(*words, "--store", url)), 1, "the server cannot be reached", reason)


class OldServer:
    """Passes the connections to the shared server on, which then says that its version is 12."""

    def __init__(self, folder):
        self.folder = folder
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / ".s.PGSQL.5432"))
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(shared_database().folder / ".s.PGSQL.5432"))
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    @staticmethod
    def _pass_on(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(re.sub(rb"(?<=server_version\0)\d\d", b"12", data))
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def test_a_server_that_is_too_old(work):
    store = Database(work)
    folder = work / "old"
    folder.mkdir()
    server = OldServer(folder)
    try:
        for words in (["run", store.program, "--model", f"script:{store.script}"], ["runs"]):
            expect_error(tenon(*words, "--store", f"postgres://tenon@/postgres?host={folder}"), 1, "the server is PostgreSQL 12; a store needs 13 or newer")
    finally:
        server.listener.close()


def test_a_schema_of_another_program_and_a_newer_store(work):
    store = Database(work)
    schema = re.search(r"tenon\.schema=(\w+)", store.path)[1]
    shared_database().query(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.orders(id bigint)")
    words = ["run", store.program, "--fn", "two", "--model", f"script:{store.script}"]
    expect_error(store.tenon(*words), 1, f"the schema `{schema}` belongs to another program", "`tenon.schema=NAME`")
    shared_database().query(f"DROP SCHEMA {schema} CASCADE")
    expect(store.tenon(*words), 3, "")
    store.query("UPDATE store SET format = 99")
    for some in (words, ["runs"], ["store", "check"]):
        expect_error(store.tenon(*some), 1, "a newer Tenon wrote this store: its format is 99")


def test_without_libpq_a_message_says_so(work):
    """libpq is loaded when it is needed."""
    library = subprocess.run(["ldd", TENON], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert "libpq" not in library, "a program without databases does not need it"
    libraries = work / "libraries"
    libraries.mkdir()
    (libraries / "libpq.so.5").touch()  # is found first, and cannot be loaded
    shown = tenon("runs", "--store", Database(work).path, environment={"LD_LIBRARY_PATH": str(libraries)})
    expect_error(shown, 1, "libpq")


def test_an_interrupt_leaves_the_run_to_others_at_once(work):
    store = Database(work)
    (work / "napping.tn").write_text('fn main() -> String {\n    for n in 0..3 { sleep(700) }\n    "done"\n}\n')
    process = subprocess.Popen([TENON, "run", str(work / "napping.tn"), "--model", f"script:{store.script}", "--store", store.path],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    run = find_run(process.stderr.readline())
    deadline = time.monotonic() + 20
    while not store.list_once_it_exists():
        assert time.monotonic() < deadline, "the run is not recorded"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130, process.returncode
    assert json.loads(store.store("owners", "--json").stdout) == []
    expect(store.resume(run), 0, "done\n")
    store.check()
