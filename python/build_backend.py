"""The build backend: that of scikit-build-core, with a source distribution that has the sources of the extension module. They are
outside of this folder; in the distribution they are in the folder `project`, as in the repository."""
import os
import pathlib
import shutil
import subprocess
import tempfile

from scikit_build_core import build as backend
from scikit_build_core.build import (  # noqa: F401
    build_editable,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

# As CMake names them by itself, and not as when Python was built: the compiler cache looks at the name, too.
for variable, compiler in (("CC", "cc"), ("CXX", "c++")):
    if shutil.which(compiler) is not None:
        os.environ.setdefault(variable, compiler)

FOLDER = pathlib.Path(__file__).resolve().parent


def tracked_files(repository):
    """The files of the repository that git knows, relative to it, as they are in the working tree."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=repository, stdout=subprocess.PIPE, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise RuntimeError(f"a source distribution is made in a git checkout, which `{repository}` is not: {error}") from None
    names = [pathlib.Path(os.fsdecode(name)) for name in listed.split(b"\0") if name]
    return [name for name in names if name.name != ".gitignore" and (repository / name).is_file()]


def copy_to(target, source):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def build_sdist(sdist_directory, config_settings=None):
    if not (FOLDER.parent / "CMakeLists.txt").is_file():
        raise RuntimeError("a source distribution is made in a checkout of the repository, not from another one")
    target = os.path.abspath(sdist_directory)
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as stage:
        for name in tracked_files(FOLDER.parent):
            if name.parts[0] == "python":
                copy_to(pathlib.Path(stage, *name.parts[1:]), FOLDER.parent / name)
            if name.parts[:2] != ("python", "tests"):
                copy_to(pathlib.Path(stage, "project", name), FOLDER.parent / name)
        os.chdir(stage)
        try:
            return backend.build_sdist(target, config_settings)
        finally:
            os.chdir(before)
