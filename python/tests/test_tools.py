"""What other tools see of the package: pytest, notebooks."""
import subprocess
import sys

import pytest

PROGRAM = """
type Intent = "billing" | "technical"
extern fn invoices(customer: String) -> i32
fn classify(ctx: Context, message: String) -> Intent { message! }
fn greet(ctx: Context, name: String) -> String { "Greet {{ name }}."! }
fn reply(ctx: Context, message: String) -> String {
    match classify(ctx, message) {
        "billing" => "You have {{ invoices("ann") }} invoices."
        "technical" => "Please restart it."
    }
}
test "a billing question" {
    model { classify => "billing" }
    extern { invoices => 3 }
    assert reply(Context::new(), "What do I owe?") == "You have 3 invoices."
}
test "a wrong expectation" {
    model { classify => "technical" }
    assert reply(Context::new(), "It is dark") == "Yes."
}
"""
SCRIPTED = """
import pytest

def test_a_script_answers(scripted_model, load_program):
    model = scripted_model({"classify": ["billing", "technical"]}, greet="Hello, Ada!")
    desk = load_program("desk.tn", model=model, externs={"invoices": lambda customer: 2})
    assert desk.reply("What do I owe?") == "You have 2 invoices."
    assert desk.reply("It is dark") == "Please restart it."
    assert desk.greet("Ada") == "Hello, Ada!"
    assert "It is dark" in model.prompts_of("classify")[1]

def test_a_script_has_too_few_answers(scripted_model, load_program):
    desk = load_program("desk.tn", model=scripted_model({"classify": []}), externs={"invoices": lambda customer: 2})
    with pytest.raises(Exception, match="the script has 0 answers for `classify`"):
        desk.reply("x")

def test_an_answer_is_not_used(scripted_model):
    scripted_model({"classify": ["billing"]})
"""


def test_pytest_collects_the_tests_of_programs(tmp_path):
    (tmp_path / "desk.tn").write_text(PROGRAM)
    (tmp_path / "test_desk.py").write_text(SCRIPTED)
    done = subprocess.run([sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"], cwd=tmp_path, text=True,
                          capture_output=True, timeout=120, check=False)
    assert "desk.tn::a billing question PASSED" in done.stdout
    assert "desk.tn::a wrong expectation FAILED" in done.stdout
    assert "Please restart it." in done.stdout and "desk.tn:" in done.stdout
    assert "test_desk.py::test_a_script_answers PASSED" in done.stdout
    assert "test_desk.py::test_a_script_has_too_few_answers PASSED" in done.stdout
    assert "answers of the script were not used: 1 of `classify`" in done.stdout
    assert "1 failed, 4 passed, 1 error" in done.stdout, done.stdout


def test_pytest_runs_the_tests_of_programs_as_interrupted_runs(tmp_path):
    (tmp_path / "desk.tn").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--tenon-crash", "desk.tn"],
                          cwd=tmp_path, text=True, capture_output=True, timeout=120, check=False)
    assert "1 failed, 1 passed" in done.stdout, done.stdout


def test_pytest_reports_a_program_with_errors(tmp_path):
    (tmp_path / "wrong.tn").write_text("fn main() -> i32 { y }\ntest \"it is\" { assert main() == 1 }")
    (tmp_path / "without_tests.tn").write_text("fn main() -> i32 { y }")
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider"], cwd=tmp_path, text=True,
                          capture_output=True, timeout=120, check=False)
    assert "cannot find `y`" in done.stdout and "1 error" in done.stdout


AGENT = """
/// Answers customers.
agent Support {
    instructions { "You are the support desk of a bakery."! }
    block sort: route {
        to order: "the person wants to order something"
        to complaint: "something was wrong"
        else -> order
    }
    block order: emit { text: "Please order at the counter." }
    block complaint: request { prompt: "Apologise, in one sentence." }
}
fn main(ctx: Context, message: String) -> String { message! }
"""


def test_a_notebook_shows_programs_and_runs(tmp_path):
    nbclient = pytest.importorskip("nbclient")
    import nbformat

    (tmp_path / "support.tn").write_text(AGENT)
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(code) for code in (
        "import tenon\n"
        "def model(request):\n"
        "    return '\"complaint\"' if request.schema else 'I am sorry about the <bread>.'\n"
        "support = tenon.load('support.tn', model=model)\n"
        "support",
        "chat = support.Support.start()\n"
        "print(chat.say('My bread was stale'))\n"
        "chat",
        "[piece async for piece in support.main.start('Hello').texts()]",
        "await support.main.aio('Hello')",
    )]
    client = nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3",
                                     resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    program, said, run = (output for cell in notebook.cells[:2] for output in cell.outputs)
    assert "agent Support" in program.data["text/html"] and "Answers customers." in program.data["text/html"]
    assert "data:image/svg+xml;base64," in program.data["text/html"]
    assert said.text == "I am sorry about the <bread>.\n"
    shown = run.data["text/html"]
    assert "<b style=\"color:#1a7f37\">ready</b>" in shown
    assert "2 prompts" in shown and "Apologise, in one sentence." in shown
    assert "I am sorry about the &lt;bread&gt;." in shown and "<bread>" not in shown
    assert "the blocks that were entered" in shown
    assert notebook.cells[2].outputs[0].data["text/plain"] == "['I am sorry about the <bread>.']"
    assert notebook.cells[3].outputs[0].data["text/plain"] == "'I am sorry about the <bread>.'"


def test_a_notebook_shows_a_run_of_a_closed_program(load_desk):
    desk = load_desk(model=lambda request: "Hello!")
    greeted, asks = desk.greet.start("Ada"), desk.colour.start()
    assert (greeted.result(), asks.wait()) == ("Hello!", "asks")
    desk.close()
    assert "Hello!" in greeted._repr_html_() and "colour" in asks._repr_html_()
