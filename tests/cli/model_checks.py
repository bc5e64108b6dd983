"""A model that cannot be used is reported before the run starts, by every command that takes one."""
import re

from tenon_process import tenon

PROGRAM = '''
fn main(ctx: Context) -> String {
    let name = ask<String>("Who?")
    "Greet {{ name }}"!
}

agent Desk {
    fn turn(ctx: Context, input: String) -> String { "Answer"! }
}
'''


def prepare(work):
    file = work / "greet.tn"
    file.write_text(PROGRAM)
    (work / "answers.script").write_text('main => "Hello"\n')
    return file


def waiting_run(work, file):
    """A run that has asked its question and waits; its name."""
    process = tenon("run", file, "--model", f"script:{work / 'answers.script'}", "--store", work / "runs.store")
    assert process.returncode == 3, process
    return re.search(r"tenon: run (\S+)", process.stderr)[1]


def test_a_typo_in_the_path_is_found_before_the_run(work):
    file = prepare(work)
    missing = work / "models" / "typo.gguf"
    expected = f"error: cannot use the model file `{missing}`: No such file or directory\n"
    for command in (["run", file], ["run", file, "--store", work / "runs.store"], ["chat", file],
                    ["serve", file, "--store", work / "served.store", "--port", "0"]):
        process = tenon(*command, "--model", f"gguf:{missing}")
        assert (process.returncode, process.stdout, process.stderr) == (1, "", expected), process
    assert tenon("runs", "--store", work / "runs.store").stdout == "", "no run has begun"
    process = tenon("run", file, "--model", f"script:{work / 'answers.script'}", "--judge", f"gguf:{missing}")
    assert (process.returncode, process.stderr) == (1, expected), process


def test_an_answer_is_rejected_if_the_model_is_unusable(work):
    run = waiting_run(work, prepare(work))
    store = work / "runs.store"
    process = tenon("resume", run, "--store", store, "--input", "Ann", "--model", "gguf:/none/typo.gguf")
    assert process.returncode == 1 and "`/none/typo.gguf`: No such file or directory" in process.stderr, process
    process = tenon("resume", run, "--store", store, "--input", "Ann")
    assert (process.returncode, process.stdout) == (0, "Hello\n"), process


def test_what_else_can_be_checked(work):
    file = prepare(work)
    (work / "text.gguf").write_text("not a model, whatever its name says")
    (work / "old.gguf").write_bytes(b"GGUF\x01\0\0\0" + bytes(16))
    (work / "empty.gguf").write_bytes(b"GGUF\x03\0\0\0" + bytes(1000))
    (work / "broken.script").write_text("main -> 1\n")
    local = {"OPENAI_BASE_URL": "", "OPENAI_API_KEY": "", "SSL_CERT_FILE": ""}
    for model, environment, expected in (
            (f"gguf:{work / 'text.gguf'}", {}, "it is not a GGUF file"),
            (f"gguf:{work / 'old.gguf'}", {}, "its GGUF version is not 2 to 3"),
            (f"gguf:{work / 'empty.gguf'}", {}, "it contains no tensors"),
            (f"gguf:{work}", {}, "Is a directory"),
            (f"script:{work / 'none.script'}", {}, f"cannot read `{work / 'none.script'}`: No such file or directory"),
            (f"script:{work / 'broken.script'}", {}, f"{work / 'broken.script'}:1:"),
            (f"recorded:{work / 'none.jsonl'}", {}, f"cannot read `{work / 'none.jsonl'}`: No such file or directory"),
            ("openai:m", {}, "api.openai.com requires an API key: set OPENAI_API_KEY"),
            ("openai:m", {"OPENAI_BASE_URL": "localhost:80"}, "the base URL is not an http or https URL: localhost:80"),
            ("openai:m", {"OPENAI_BASE_URL": "http://localhost:9/v1", "SSL_CERT_FILE": "/none.pem"},
             "cannot read the CA certificates in `/none.pem`"),
            ("builtin", {"HOME": "", "XDG_CACHE_HOME": ""}, "HOME")):
        process = tenon("run", file, "--model", model, environment={**local, **environment})
        assert process.returncode == 1 and expected in process.stderr, (model, process)
        assert "Who?" not in process.stderr + process.stdout, process
    process = tenon("run", file, "--model", "gguff:x")
    assert process.returncode == 2 and "expected builtin, gguf:PATH" in process.stderr, process


def test_a_recorded_run_waits_for_a_model_file_that_cannot_be_loaded(work):
    (work / "say.tn").write_text('fn main(ctx: Context) -> String { "Say a word"! }\n')
    (work / "answers.script").write_text('main => "Hello"\n')
    name = b"weights"
    tensor = len(name).to_bytes(8, "little") + name + (1).to_bytes(4, "little") + (8).to_bytes(8, "little") + bytes(4) + bytes(8)
    (work / "odd.gguf").write_bytes((b"GGUF\x03\0\0\0" + (1).to_bytes(8, "little") + bytes(8) + tensor).ljust(96, b"\0") + bytes(32))
    options = ["run", work / "say.tn", "--model", f"gguf:{work / 'odd.gguf'}"]
    failed = tenon(*options)
    assert failed.returncode == 1 and "odd.gguf is not a model that llama.cpp can load" in failed.stderr, failed
    waiting = tenon(*options, "--store", work / "runs.store", "--retry", "initial=1h")
    assert waiting.returncode == 3 and "model unavailable: " in waiting.stderr, waiting
    run = re.search(r"tenon: run (\S+)", waiting.stderr)[1]
    resumed = tenon("resume", run, "--store", work / "runs.store", "--model", f"script:{work / 'answers.script'}")
    assert (resumed.returncode, resumed.stdout) == (0, "Hello\n"), resumed
