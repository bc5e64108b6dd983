"""The types of `tenon.ray`, which can only be checked where Ray is installed."""
import subprocess
import sys


def test_the_package_passes_mypy(tmp_path):
    checked = subprocess.run([sys.executable, "-m", "mypy", "--strict", "-p", "tenon.ray"], cwd=tmp_path, capture_output=True, text=True,
                             timeout=300, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
