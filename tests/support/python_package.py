"""Builds and installs the Python package as its users do. For runners."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

from cached_packages import fetch

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS_MAX = 900
TEST_SECONDS_MAX = 200
LAST_LINES = 36
MARK = "TENON_TEST_RUN"  # the variable by which the processes of a run are known


class Counts:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.problems = []  # a line about each that failed

    def note(self, name, problem):
        if problem is None:
            self.passed += 1
        else:
            self.failed += 1
            errors = [line for line in problem.splitlines() if line.startswith("E ")] or problem.splitlines()
            self.problems.append(f"{name}: {errors[0].removeprefix('E ').strip() if errors else 'failed'}")
            print(f"{name}: FAILED\n{problem}", flush=True)


def run(command, **options):
    """Runs a command to its end."""
    environment = dict(os.environ, **options.pop("environment", {}))
    options.setdefault("timeout", SECONDS_MAX)
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, check=False, env=environment, **options)


def find_python(version):
    """The path of a CPython of this version with what extensions and virtual environments need; None if there is none."""
    code = ("import sys, sysconfig, os, venv, pip; assert '%d.%d' % sys.version_info[:2] == '" + version + "'; "
            "assert os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')); print(sys.executable)")
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    candidates = [sys.executable, f"/usr/bin/python{version}", shutil.which(f"python{version}"),
                  *sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"))]
    for candidate in filter(None, candidates):
        if not os.path.exists(candidate):
            continue
        found = run([candidate, "-c", code])
        if found.returncode == 0:
            return found.stdout.strip()
    return None


def install_requirements(python, requirements, folder):
    """Installs pinned packages into a folder."""
    fetch(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes",
          "--only-binary", ":all:", "-r", requirements, "--target", folder)


def build_sdist(python, packages, folder):
    """Returns the source distribution of ./python."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    code = f"import sys; sys.path.insert(0, '.'); import build_backend; build_backend.build_sdist({str(folder)!r})"
    done = run([python, "-c", code], cwd=ROOT / "python", environment={"PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"})
    archives = sorted(folder.glob("*.tar.gz"))
    if done.returncode != 0 or len(archives) != 1:
        raise RuntimeError(f"the source distribution cannot be made:\n{done.stdout}")
    return archives[0]


def build_wheel(python, packages, folder, source="./python"):
    """Returns the wheel as `pip wheel ./python` makes it. `source`: that, or a source distribution."""
    shutil.rmtree(folder, ignore_errors=True)
    environment = {"PYTHONPATH": str(packages), "PATH": f"{packages / 'bin'}:{os.environ.get('PATH', '')}"}
    done = run([python, "-m", "pip", "wheel", source, "--no-deps", "--no-build-isolation", "--disable-pip-version-check",
                "--verbose", "-w", folder], cwd=ROOT, environment=environment)
    wheels = sorted(folder.glob("*.whl")) if folder.is_dir() else []
    if done.returncode != 0 or len(wheels) != 1:
        raise RuntimeError(f"pip wheel exits with {done.returncode}:\n" + "\n".join(done.stdout.splitlines()[-60:]))
    return wheels[0]


def make_environment(python, packages, wheel, folder):
    """A virtual environment with the wheel and the packages. Returns its Python."""
    shutil.rmtree(folder, ignore_errors=True)
    made = run([python, "-m", "venv", "--without-pip", folder])
    if made.returncode != 0:
        raise RuntimeError(made.stdout)
    site = next(folder.glob("lib/python3.*/site-packages"))
    (site / "packages.pth").write_text(f"{packages}\n")
    installed = run([python, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet", "--no-deps", "--no-index",
                     "--disable-pip-version-check", wheel])
    if installed.returncode != 0:
        raise RuntimeError(installed.stdout)
    return folder / "bin/python"


def run_pytest(python, folder, tests, label, counts, seconds=SECONDS_MAX, environment=None):
    """Runs tests, named as for pytest from the root of the repository, with `folder` for what is left of them. A test that takes
    TEST_SECONDS_MAX ends the run, with what each thread does at that moment."""
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    given = {"PATH": f"{python.parent}:{os.environ.get('PATH', '')}", "PYTHONDONTWRITEBYTECODE": "1", MARK: mark,
             **(environment or {})}
    command = [python, "-m", "pytest", "-v", "--tb=short", "-p", "no:cacheprovider", f"--junitxml={report}",
               "-o", f"faulthandler_timeout={TEST_SECONDS_MAX}", "-o", "faulthandler_exit_on_timeout=true", *tests]
    try:
        output = run(command, cwd=ROOT, environment=given, timeout=seconds).stdout
    except subprocess.TimeoutExpired as error:
        output = (error.stdout or b"").decode(errors="replace")
        return counts.note(f"{label}: {' '.join(tests)}", f"timed out after {seconds} s. Its last lines:\n{last_lines(output)}")
    finally:
        end_processes_of(mark)
    if not report.exists():
        return counts.note(f"{label}: pytest", last_lines(output))
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        problems = [one.text or one.get("message", "") for one in case if one.tag in ("failure", "error")]
        if not any(one.tag == "skipped" for one in case):
            counts.note(f"{label}: {case.get('classname')}.{case.get('name')}", "\n".join(problems) if problems else None)
    return None


def last_lines(output):
    """Of pytest, without its own frames in tracebacks."""
    lines = [line for line in output.splitlines() if not re.search(r'File ".*/(_pytest|pytest|pluggy)/|File "<frozen runpy>"', line)]
    return "\n".join(lines[-LAST_LINES:])


def end_processes_of(mark):
    """Ends the processes that tests have left, such as those of a cluster: they have the mark in their environment."""
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)
        except OSError:
            pass  # it has ended, or it is another user's


def run_guide(python, guide, label, counts):
    """The examples of a guide, with the package's Python first in the path."""
    environment = {"PATH": f"{python.parent}:{os.environ.get('PATH', '')}"}
    done = run([sys.executable, "tests/spec/run", guide], cwd=ROOT, environment=environment)
    closing = re.findall(r"^(\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
    if done.returncode == 0 and closing:
        counts.passed += int(closing[-1][0])
    else:
        counts.note(f"{label}: {guide}", done.stdout)
