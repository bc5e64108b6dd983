"""A copy of the development scripts in a folder of its own, where the programs in the PATH are fakes that note their calls."""
import contextlib
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Programs that are as they are on the machine.
REAL = ("bash", "cat", "chmod", "cp", "cut", "dirname", "env", "head", "mkdir", "mktemp", "nproc", "rm", "sed", "sort", "tail", "touch")
SECONDS_MAX = 120


def expect(condition, output):
    if not condition:
        raise AssertionError(output)


class Sandbox:
    def __init__(self, folder):
        self.root = folder / "project"
        self.home = folder / "home"
        self._programs = folder / "programs"
        self._calls = folder / "calls"
        for path in ("dev", "rust/Cargo.toml", *(str(path.relative_to(ROOT)) for path in (ROOT / "tools/dev").iterdir() if path.is_file())):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.root / path)
        self.home.mkdir()
        self._programs.mkdir()
        for name in REAL:
            (self._programs / name).symlink_to(shutil.which(name))

    def add(self, name, text=""):
        """A program of the PATH, in Bash. What it is called with is a line of `calls`."""
        program = self._programs / name
        program.unlink(missing_ok=True)
        program.write_text(f'#!{shutil.which("bash")}\necho "{name} $*" >>"{self._calls}"\n{text}\n')
        program.chmod(0o755)

    def run(self, command):
        """The output and the exit code of a command of Bash, started in the copy's root."""
        process = subprocess.run([shutil.which("bash"), "-c", command], cwd=self.root, text=True, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_MAX, check=False,
                                 env={"PATH": str(self._programs), "HOME": str(self.home), "LC_ALL": "C.UTF-8"})
        return process.stdout, process.returncode

    def calls(self, program):
        """The arguments of each call of a fake."""
        lines = self._calls.read_text().splitlines() if self._calls.exists() else []
        return [line.removeprefix(f"{program} ") for line in lines if line.startswith(f"{program} ")]


@contextlib.contextmanager
def sandbox():
    with tempfile.TemporaryDirectory() as folder:
        yield Sandbox(pathlib.Path(folder))
