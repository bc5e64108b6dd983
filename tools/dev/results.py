"""Where figures are written: in build/bench/results, or with the option --keep in bench/results, whose files are part of the repository."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def take_results_folder(arguments):
    """Removes `--keep` from the arguments of a command, and returns the folder, which exists then."""
    folder = ROOT / "build/bench/results"
    if "--keep" in arguments:
        arguments.remove("--keep")
        folder = ROOT / "bench/results"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
