"""What CMake prints while llama.cpp and llguidance are built (cmake/native_step.cmake), and the Rust that it accepts (cmake/rust.cmake)."""
import pathlib
import shutil
import subprocess
import tempfile

from sandbox import ROOT, expect, sandbox

CMAKE = shutil.which("cmake")
STEP = """
set(NATIVE_DIR {folder})
file(MAKE_DIRECTORY {folder}/work)
include("{root}/cmake/native_step.cmake")
set(NATIVE_PROGRESS_SECONDS 1)
native_step("Building a library" sh {folder}/command.sh {beside})
"""
RUST = """
include("{root}/cmake/rust.cmake")
find_rust()
message(STATUS "cargo: ${{CARGO}}")
"""
SECONDS_MAX = 60


def start_step(folder, command, beside=None):
    """CMake, which performs a step."""
    (pathlib.Path(folder) / "command.sh").write_text(command)
    if beside is not None:
        (pathlib.Path(folder) / "beside.sh").write_text(beside)
    script = pathlib.Path(folder) / "step.cmake"
    script.write_text(STEP.format(folder=folder, root=ROOT, beside="" if beside is None else f"BESIDE sh {folder}/beside.sh"))
    return subprocess.Popen([CMAKE, "-P", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_a_step_shows_its_progress():
    with tempfile.TemporaryDirectory() as folder:
        # It ends when its progress has been seen.
        seen = pathlib.Path(folder) / "seen"
        process = start_step(folder, f"echo [1/2] one; for n in $(seq 600); do [ -e {seen} ] && exit; sleep 0.1; done; exit 1")
        with process:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if "s: [1/2] one" in line:
                    seen.touch()
        expect(process.returncode == 0 and lines[0] == "-- Building a library …\n" and seen.exists(), lines)


def test_the_log_of_a_step_is_shown_when_it_fails():
    with tempfile.TemporaryDirectory() as folder:
        process = start_step(folder, "echo one; echo two; exit 3")
        output, _ = process.communicate(timeout=SECONDS_MAX)
        expect(process.returncode == 1 and "Building a library failed (3):" in output and "one\n" in output and "two\n" in output, output)


def test_two_commands_of_a_step_run_at_once_and_both_must_succeed():
    """Each waits until the other one runs."""
    wait_for = "for n in $(seq 300); do [ -e {0} ] && break; sleep 0.1; done; [ -e {0} ] || exit 4"
    for code, beside_code in ((0, 0), (3, 0), (0, 3)):
        with tempfile.TemporaryDirectory() as folder:
            one, other = (pathlib.Path(folder) / name for name in ("one", "other"))
            process = start_step(folder, f"touch {one}; {wait_for.format(other)}; echo first; exit {code}",
                                 f"touch {other}; {wait_for.format(one)}; echo second; exit {beside_code}")
            output, _ = process.communicate(timeout=SECONDS_MAX)
            expected = "" if code == beside_code == 0 else "first" if code else "second"
            failed = [name for name in ("first", "second") if f"{name}\n" in output]
            expect(failed == [expected] * bool(expected) and (process.returncode == 0) == (not expected), output)
            expect(not expected or "Building a library failed (3):" in output, output)


def test_cargo_and_rustc_are_new_enough_before_anything_is_built():
    for cargo, rustc, is_enough in (("1.95.0", "1.87.0", True), ("1.95.0", "1.63.0", False), ("1.63.0", "1.95.0", False)):
        with sandbox() as machine:
            machine.add("cargo", f"echo 'cargo {cargo} (of today)'")
            machine.add("rustc", f"echo 'rustc {rustc}'")
            (machine.root / "rust.cmake").write_text(RUST.format(root=ROOT))
            output, code = machine.run(f"{CMAKE} -P rust.cmake")
            expect((code == 0) == is_enough, output)
            if is_enough:
                expect("programs/cargo\n" in output, output)
            else:
                expect("Rust 1.87 or newer is needed" in output and f"cargo {cargo}: " in output and f"rustc {rustc}: " in output, output)
