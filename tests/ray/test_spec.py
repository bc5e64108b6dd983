"""What a deployment consists of. In a process of its own: Ray is imported after the clusters of other tests are made."""
import subprocess
import sys

SHOW = """
from tenon.ray._spec import Spec
print(Spec(name="desk", programs=("desk.tn",), store="postgres://ann:wr0ng@host/x", externs=b"wr0ng", model=b"wr0ng", hosts_per_node=1,
           host_resources={}, agents={}, pool="", token="wr0ng", options={"secret_key": "wr0ng"},
           runtime_env={"env_vars": {"PGPASSWORD": "wr0ng"}}))
"""


def test_a_deployment_does_not_show_its_secrets():
    shown = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "wr0ng" not in shown and "desk.tn" in shown


def test_programs_are_found_by_relative_paths(tmp_path):
    """Actors are in other folders."""
    (tmp_path / "desk.tn").write_text("fn one() -> i32 { 1 }")
    show = "from tenon.ray._spec import paths_of; print(*paths_of(['desk.tn'], None), *paths_of(['desk.tn'], {'working_dir': '.'}))"
    shown = subprocess.run([sys.executable, "-c", show], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True).stdout
    assert shown.split() == [str(tmp_path / "desk.tn"), "desk.tn"]
