# Installs the Debian 12 packages that a command needs and the machine lacks; silent if nothing is missing.

declare -A packages_for=(
  [build]="g++ cmake ninja-build ccache mold pkg-config git ca-certificates libgtest-dev libgmock-dev
    libcurl4-openssl-dev libpq-dev libssl-dev nlohmann-json3-dev libfmt-dev libexpected-dev libre2-dev libffi-dev libcli11-dev
    libutfcpp-dev libtomlplusplus-dev libboost1.81-dev libcmark-gfm-dev libcmark-gfm-extensions-dev libpango1.0-dev
    fonts-dejavu-core fonts-wqy-microhei"
  [fuzz]="clang-16 libclang-rt-16-dev"
  [fmt]="clang-format-16 git"
  [lint]="clang-tidy-16"
  [test]="strace poppler-utils curl python3-dev python3-venv python3-pip postgresql-15"
  [ray]="python3-dev python3-venv python3-pip postgresql-15 redis-server"
  [tidy]=""
  [model]=""
  [bench]="lua5.4 python3-venv"
)
rust_version_min=1.85

cargo_is_new_enough() {
  local version
  version=$(cargo --version 2>/dev/null | cut -d' ' -f2) || return 1
  [ -n "$version" ] && [ "$(printf '%s\n%s\n' "$rust_version_min" "$version" | sort -V | head -1)" = "$rust_version_min" ]
}

# Prints those of the given packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then echo "$package"; fi
  done
}

apt_install() {
  local privilege=()
  if [ "$(id -u)" -ne 0 ]; then privilege=(sudo); fi
  echo "./dev: installing $*"
  if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then "${privilege[@]}" apt-get update -qq; fi
  # --no-remove: an installed package is never removed for this.
  local install=("${privilege[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends
    --no-remove "$@")
  if ! "${install[@]}"; then
    echo "./dev: trying again with fresh package lists"
    "${privilege[@]}" apt-get update -qq
    "${install[@]}"
  fi
}

# install_for PURPOSE…: installs the packages for each purpose, Rust for `build`, Python for the purposes that run it.
install_for() {
  local purpose wanted=() missing=() rust=no
  for purpose in "$@"; do
    # Unquoted on purpose: the table contains lists of words.
    # shellcheck disable=SC2206
    wanted+=(${packages_for[$purpose]})
    case "$purpose" in
      build) cargo_is_new_enough || { rust=yes; wanted+=(rustc-web cargo-web); } ;;
      tidy | bench | fuzz) command -v python3 >/dev/null || wanted+=(python3) ;;
      model) python3 -c 'import pip' 2>/dev/null || wanted+=(python3 python3-pip) ;;
    esac
  done
  if ! command -v dpkg-query >/dev/null; then
    echo "./dev: this is not Debian; continuing with what is installed. Needed packages, by Debian's names: ${wanted[*]}" >&2
    return
  fi
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  if [ "${#missing[@]}" -gt 0 ]; then apt_install "${missing[@]}"; fi
  if [ "$rust" = yes ]; then export PATH="/usr/bin:$PATH"; fi  # takes precedence over an older cargo elsewhere
}
