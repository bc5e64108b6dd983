# Installs the Debian 12 packages that a command needs and the machine lacks; silent if nothing is missing.

declare -A packages_for=(
  [build]="g++ cmake ninja-build ccache mold pkg-config git ca-certificates libgtest-dev libgmock-dev
    libcurl4-openssl-dev libpq-dev libssl-dev nlohmann-json3-dev libfmt-dev libexpected-dev libre2-dev libffi-dev libcli11-dev
    libutfcpp-dev libtomlplusplus-dev libboost1.81-dev libcmark-gfm-dev libcmark-gfm-extensions-dev libpango1.0-dev
    fonts-dejavu-core fonts-wqy-microhei"
  [clang]="clang-16 libclang-rt-16-dev llvm-16"
  [fuzz]=""
  [fmt]="clang-format-16 git"
  [lint]="clang-tidy-16"
  [test]="strace poppler-utils curl python3-dev python3-venv python3-pip postgresql-15"
  [ray]="python3-dev python3-venv python3-pip postgresql-15 redis-server"
  [tidy]=""
  [model]=""
  [bench]="lua5.4 python3-venv"
)
rust_version_min=1.87  # what llguidance needs

is_at_least() { [ -n "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -1)" = "$1" ]; }

cargo_is_new_enough() { is_at_least "$rust_version_min" "$(cargo --version 2>/dev/null | cut -d' ' -f2)"; }

# Whether apt would install a Rust that is new enough; with further options of apt.
apt_has_rust() {
  is_at_least "$rust_version_min" "$(LC_ALL=C apt-cache "$@" policy cargo-web 2>/dev/null | sed -n 's/^  Candidate: \([0-9.]*\).*/\1/p')"
}

# Debian 12's newer Rust comes with its security updates. They may be missing in old lists, or in the sources of a machine.
install_rust() {
  local privilege=() parts uri
  if [ "$(id -u)" -ne 0 ]; then privilege=(sudo); fi
  apt_has_rust || { echo "./dev: fetching package lists, for a newer Rust"; "${privilege[@]}" apt-get update -qq; }
  if apt_has_rust; then
    apt_install rustc-web cargo-web
  else
    # The archive of security updates beside the main one, for this command alone.
    uri=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' 2>/dev/null | head -1)
    parts=$(mktemp -d)
    chmod 755 "$parts"
    echo "deb ${uri%/}-security bookworm-security main" >"$parts/security.list"
    apt_options=(-o "Dir::Etc::SourceParts=$parts" -o "Dir::State::Lists=$parts/lists")
    mkdir -p "$parts/lists/partial"
    cp /etc/apt/sources.list.d/* "$parts" 2>/dev/null || true
    echo "./dev: fetching the list of Debian's security updates, for a newer Rust"
    "${privilege[@]}" apt-get "${apt_options[@]}" update -qq || true
    if apt_has_rust "${apt_options[@]}"; then apt_install rustc-web cargo-web; fi
    apt_options=()
    "${privilege[@]}" rm -rf "$parts"
  fi
  export PATH="/usr/bin:$PATH"  # takes precedence over an older cargo elsewhere
  hash -r
  if cargo_is_new_enough; then return; fi
  echo "./dev: Rust $rust_version_min or newer is needed, and apt has none. Add Debian's security updates to apt's sources" \
    "(the suite bookworm-security), or put a newer cargo and rustc in the PATH; then run this again." >&2
  exit 1
}

# Prints those of the given packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then echo "$package"; fi
  done
}

apt_options=()  # further ones

apt_install() {
  local privilege=()
  if [ "$(id -u)" -ne 0 ]; then privilege=(sudo); fi
  echo "./dev: installing $*"
  if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then "${privilege[@]}" apt-get update -qq; fi
  # --no-remove: an installed package is never removed for this.
  local install=("${privilege[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${apt_options[@]}" install -y -qq
    --no-install-recommends --no-remove "$@")
  if ! "${install[@]}"; then
    echo "./dev: trying again with fresh package lists"
    "${privilege[@]}" apt-get "${apt_options[@]}" update -qq
    "${install[@]}"
  fi
}

# install_for PURPOSE…: installs the packages for each purpose, Rust for `build`, Python for the purposes that run it.
install_for() {
  local purpose wanted=() missing=() needs_rust=no
  for purpose in "$@"; do
    # Unquoted on purpose: the table contains lists of words.
    # shellcheck disable=SC2206
    wanted+=(${packages_for[$purpose]})
    case "$purpose" in
      build) cargo_is_new_enough || needs_rust=yes ;;
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
  # Before anything is built: llguidance comes after llama.cpp, which takes minutes.
  if [ "$needs_rust" = yes ]; then install_rust; fi
}
