"""The server of the embedded model: llama.cpp's own, which supports OpenAI's API. Its sources are in the package that llama_server.txt pins,
because the crate that Tenon is built from does not contain the server. It is built once, in the user's cache.
"""
import os
import pathlib
import socket
import subprocess
import sys
import tarfile
import time
import urllib.request

from cached_packages import cached, fetch

FOLDER = pathlib.Path(__file__).resolve().parent
PINS = FOLDER / "llama_server.txt"
MODEL = "models/SmolLM2-135M-Instruct.Q4_1.gguf"
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF",
           "-DLLAMA_BUILD_APP=OFF", "-DLLAMA_BUILD_TOOLS=ON", "-DLLAMA_BUILD_SERVER=ON", "-DLLAMA_BUILD_UI=OFF",
           "-DLLAMA_USE_PREBUILT_UI=OFF", "-DLLAMA_OPENSSL=OFF", "-DGGML_NATIVE=OFF", "-DGGML_OPENMP=OFF"]
START_SECONDS_MAX = 180
# Two requests at a time, because one side asks for several verdicts at once.
SLOTS = 2
CONTEXT_TOKENS = 16384
# More threads would spin at barriers and become many times slower next to any busy process.
THREADS = 1


def build(folder):
    """Takes about six minutes on two cores."""
    print("building llama.cpp's server, once", flush=True)
    fetch(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary",
          "llama-cpp-python", "--require-hashes", "-r", PINS, "-d", folder)
    archive = next(folder.glob("llama_cpp_python-*.tar.gz"))
    with tarfile.open(archive) as tar:
        members = [member for member in tar.getmembers() if "/vendor/llama.cpp/" in member.name]
        tar.extractall(folder, members=members)
    archive.unlink()
    source = next(folder.glob("llama_cpp_python-*/vendor/llama.cpp"))
    fetch("cmake", "-G", "Ninja", "-S", source, "-B", folder / "build", *OPTIONS)
    fetch("ninja", "-C", folder / "build", "llama-server")
    (folder / "build/bin/llama-server").rename(folder / "llama-server")


def program():
    return cached("bench_agents_server", [PINS], build) / "llama-server"


def version(executable):
    output = subprocess.run([str(executable), "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return output.stdout.splitlines()[0].removeprefix("version: ") + ", llama-cpp-python 0.3.36"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class LlamaServer:
    """Runs for the duration of the `with` statement, on the loopback address only. It does not outlive this process."""

    def __init__(self, executable):
        self.port = free_port()
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        self.command = [str(executable), "-m", str(cache / "tenon" / MODEL), "--host", "127.0.0.1", "--port", str(self.port),
                        "--threads", str(THREADS), "--parallel", str(SLOTS), "--ctx-size", str(CONTEXT_TOKENS), "--offline"]
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *self.command], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                raise RuntimeError("the embedded model's server does not start: " + " ".join(self.command))
            time.sleep(0.1)
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        self.process.wait(timeout=10)

    def open(self, path, body=None):
        # The server is local, so the environment's proxy is ignored.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", body, {"Content-Type": "application/json"})
        return opener.open(request, timeout=30)

    def is_ready(self):
        try:
            with self.open("/health") as reply:
                return reply.status == 200
        except OSError:
            return False
