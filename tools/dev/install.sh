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
  [studio]="chromium python3-venv python3-pip"
  [tidy]=""
  [model]=""
  [bench]="lua5.4"
)
rust_version_min=$(sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' rust/Cargo.toml)
rust_packages=(rustc-web cargo-web)  # Debian 12's newer Rust, which comes with its security updates
rust_folder=/usr/bin  # where they install it
install_log=build/install.log
install_log_lines=20  # of its end, which are shown when apt fails

is_at_least() { [ -n "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -1)" = "$1" ]; }

# version_of PROGRAM: of cargo or rustc; nothing if it is missing.
version_of() { { "$1" --version 2>/dev/null || true; } | cut -sd' ' -f2; }

# rust_is_new_enough [FOLDER/]: both programs of the folder, or of the PATH, where they may come from different places.
rust_is_new_enough() {
  is_at_least "$rust_version_min" "$(version_of "${1:-}cargo")" && is_at_least "$rust_version_min" "$(version_of "${1:-}rustc")"
}

# Prints those of the given packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then echo "$package"; fi
  done
}

# Whether apt would install a Rust that is new enough; with further options of apt.
apt_has_rust() {
  is_at_least "$rust_version_min" "$(LC_ALL=C apt-cache "$@" policy cargo-web 2>/dev/null | sed -n 's/^  Candidate: \([0-9.]*\).*/\1/p')"
}

# What follows, down to `as_root`, runs as root in a process of its own: its progress goes to stdout, apt's output to stderr.

apt_options=()  # with which apt knows of a newer Rust

apt_update() { apt-get "${apt_options[@]}" update -qq >&2; }

# From now on apt also knows the archive of security updates, for this command alone.
use_security_archive() {
  local parts uri
  uri=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' 2>/dev/null | head -1)
  parts=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$parts'" EXIT
  chmod 755 "$parts"
  echo "deb ${uri%/}-security bookworm-security main" >"$parts/security.list"
  mkdir -p "$parts/lists/partial"
  cp /etc/apt/sources.list.d/* "$parts" 2>/dev/null || true
  apt_options=(-o "Dir::Etc::SourceParts=$parts" -o "Dir::State::Lists=$parts/lists")
  apt_update || true
}

# Security updates may be missing in old lists, or in the sources of a machine.
find_rust() {
  if apt_has_rust; then return; fi
  echo "./dev: fetching package lists, for a newer Rust"
  apt_update
  if apt_has_rust; then return; fi
  echo "./dev: fetching the list of Debian's security updates, for a newer Rust"
  use_security_archive
  apt_has_rust "${apt_options[@]}"
}

# as_root PACKAGE…
as_root() {
  local package packages=()
  export DEBIAN_FRONTEND=noninteractive
  if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then apt_update; fi
  if [[ " $* " != *" ${rust_packages[*]} "* ]] || find_rust; then
    packages=("$@")
  else
    # The rest is installed without it; `choose_rust` says what to do about Rust.
    apt_options=()
    for package in "$@"; do
      if [[ " ${rust_packages[*]} " != *" $package "* ]]; then packages+=("$package"); fi
    done
  fi
  if [ "${#packages[@]}" -eq 0 ]; then return; fi
  # --no-remove: an installed package is never removed for this.
  local install=(install -y -qq --no-install-recommends --no-remove "${packages[@]}")
  if ! apt-get "${apt_options[@]}" "${install[@]}" >&2; then
    echo "./dev: trying again with fresh package lists"
    apt_update
    if apt-get "${apt_options[@]}" "${install[@]}" >&2; then return; fi
    if [ "${#apt_options[@]}" -gt 0 ]; then return 1; fi  # it knew them already
    # What an earlier command has installed from there may need the same versions of other packages.
    echo "./dev: trying again with Debian's security updates"
    use_security_archive
    apt-get "${apt_options[@]}" "${install[@]}" >&2
  fi
}

# apt_install PACKAGE…: ends ./dev with a way out if they cannot be installed.
apt_install() {
  local privilege=() by_hand="as root: \`apt-get install --no-install-recommends $*\`"
  if [[ " $* " == *" ${rust_packages[*]} "* ]]; then by_hand+=" (${rust_packages[*]}: from the suite bookworm-security)"; fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "./dev: packages are missing, and there is no sudo. Run $by_hand; then run this again." >&2
      exit 1
    fi
    privilege=(sudo)
  fi
  mkdir -p "$(dirname "$install_log")"
  echo "./dev: installing $*"
  echo "./dev: apt's output is in $install_log${privilege:+; sudo may ask for your password}"
  if ! "${privilege[@]}" bash -euo pipefail -c '. tools/dev/install.sh; as_root "$@"' install "$@" 2>"$install_log"; then
    tail -n "$install_log_lines" "$install_log" >&2
    echo "./dev: packages could not be installed; the reason is above, and in $install_log. Once it is gone, run this again, or" \
      "install them yourself, $by_hand." >&2
    exit 1
  fi
}

# Puts Debian's Rust before an older one of the PATH. Ends ./dev if neither is new enough.
choose_rust() {
  if rust_is_new_enough; then return; fi
  if rust_is_new_enough "$rust_folder/"; then
    export PATH="$rust_folder:$PATH"
    hash -r
    return
  fi
  local cargo rustc
  cargo=$(version_of cargo)
  rustc=$(version_of rustc)
  echo "./dev: Rust $rust_version_min or newer is needed. Here, cargo is ${cargo:-missing} and rustc is ${rustc:-missing}, and apt has no" \
    "newer one. Add Debian's security updates to apt's sources (the suite bookworm-security), or put a newer cargo and rustc in the" \
    "PATH; then run this again." >&2
  exit 1
}

# install_for PURPOSE…: installs the packages for each purpose, Rust for `build`, Python for the purposes that run it. A command calls it
# once, before anything is built, so that a question for a password is its first act.
install_for() {
  local purpose wanted=() missing=() needs_rust=no
  for purpose in "$@"; do
    # Unquoted on purpose: the table contains lists of words.
    # shellcheck disable=SC2206
    wanted+=(${packages_for[$purpose]})
    case "$purpose" in
      build) needs_rust=yes ;;
      tidy | bench | fuzz) command -v python3 >/dev/null || wanted+=(python3) ;;
      model) python3 -c 'import pip' 2>/dev/null || wanted+=(python3 python3-pip) ;;
    esac
  done
  if ! command -v dpkg-query >/dev/null; then
    echo "./dev: this is not Debian; continuing with what is installed. Needed packages, by Debian's names: ${wanted[*]}" >&2
    return
  fi
  mapfile -t missing < <(missing_packages "${wanted[@]}" | sort -u)
  # An update of them may be new enough, if they are installed.
  if [ "$needs_rust" = yes ] && ! rust_is_new_enough && ! rust_is_new_enough "$rust_folder/"; then missing+=("${rust_packages[@]}"); fi
  if [ "${#missing[@]}" -gt 0 ]; then apt_install "${missing[@]}"; fi
  if [ "$needs_rust" = yes ]; then choose_rust; fi
}
