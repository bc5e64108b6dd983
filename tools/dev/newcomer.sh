#!/usr/bin/env bash
# newcomer.sh [root|user]: runs the README's two commands on a plain Debian 12, made by debootstrap in build/newcomer. Needs root.
#
#   root   as root, in a folder of mode 700
#   user   as an ordinary user with sudo, in a path with a space
#
# Both begin with the package lists of the main archive alone, as debootstrap leaves them. What the machine needs to reach its package
# registries (certificates, names, settings of apt, pip and npm) is taken over. The caches of earlier runs stay in build/newcomer/cache;
# without that folder everything is downloaded and compiled.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tools/dev/install.sh

case "${1:-}" in
  "" | root | user) ;;
  *) echo "./dev newcomer: no kind is named \`$1\`; there are root and user" >&2; exit 2 ;;
esac

[ "$(id -u)" -eq 0 ] || { echo "./dev newcomer: needs root, to make a Debian in build/newcomer" >&2; exit 2; }
# Mounts and processes of its machines are seen by this command alone, and end with it.
if [ -z "${TENON_NEWCOMER:-}" ]; then
  TENON_NEWCOMER=1 exec unshare --mount --propagation private --pid --fork --kill-child "tools/dev/newcomer.sh" "$@"
fi
missing=$(missing_packages debootstrap)
if [ -n "$missing" ]; then apt_install "$missing"; fi

folder=$PWD/build/newcomer
base=$folder/base
mkdir -p "$folder/cache"
uri=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' | head -1)
if [ ! -f "$base/etc/debian_version" ]; then
  echo "./dev newcomer: making a plain Debian 12"
  debootstrap --variant=minbase --include=ca-certificates,git,sudo bookworm "$base" "$uri" >"$folder/debootstrap.log" 2>&1 ||
    { tail -20 "$folder/debootstrap.log" >&2; rm -rf "$base"; exit 1; }
  echo "deb $uri bookworm main" >"$base/etc/apt/sources.list"
fi

# make_machine NAME: a copy of the base that is thrown away.
make_machine() {
  machine=$folder/$1
  rm -rf --one-file-system "$machine"
  cp -a "$base" "$machine"
  # As on a machine of its own, the root is a file system: mounts below it can be made private.
  mount --bind "$machine" "$machine"
  mount -t proc proc "$machine/proc"
  mount --rbind /sys "$machine/sys"
  mount --rbind /dev "$machine/dev"
  mkdir -p "$machine/cache"
  mount --bind "$folder/cache" "$machine/cache"
  local file
  for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt /etc/pip.conf /etc/npmrc; do
    [ -f "$file" ] || continue
    mkdir -p "$machine$(dirname "$file")"
    cp -L "$file" "$machine$file"
  done
  cp -rL /usr/local/share/ca-certificates "$machine/usr/local/share/" 2>/dev/null || true
  cp -rL /etc/apt/auth.conf.d "$machine/etc/apt/" 2>/dev/null || true
  git clone -q "$PWD" "$machine/project"
}

# variables: those of the registries' clients, as `NAME=VALUE` lines.
variables() { env | grep -E '^(PIP_|npm_config_|NPM_CONFIG_|CARGO_|SSL_|NODE_EXTRA_|[a-zA-Z]+_(proxy|PROXY)=)' || true; }

# run_commands USER HOME PROJECT
run_commands() {
  local user=$1 home=$2 project=$3 command settings
  mapfile -t settings < <(variables)
  for command in "./dev demo" "./dev test"; do
    echo "== $command, as $user in $project"
    local started=$SECONDS
    if ! chroot "$machine" /usr/bin/env -i "${settings[@]}" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      HOME="$home" USER="$user" XDG_CACHE_HOME=/cache/"$user" CCACHE_DIR=/cache/"$user"/ccache LANG=C.UTF-8 \
      sudo -E -u "$user" --preserve-env=PATH,HOME,XDG_CACHE_HOME,CCACHE_DIR -- \
      bash -c 'cd "$1" && $2' newcomer "$project" "$command" </dev/null >"$folder/log" 2>&1; then
      sed -n '/^what failed:$/,$p' "$folder/log"
      tail -n 40 "$folder/log"
      echo "== $command failed as $user after $((SECONDS - started)) s"
      failed=$((failed + 1))
      return 0
    fi
    tail -n 4 "$folder/log"
    echo "== $command passed in $((SECONDS - started)) s"
    passed=$((passed + 1))
  done
}

passed=0
failed=0
for kind in ${1:-root user}; do
  make_machine "$kind"
  case "$kind" in
    root)
      home=$(chroot "$machine" sh -c 'echo ~root')
      mkdir -p "$folder/cache/root"
      mv "$machine/project" "$machine$home/project"
      chmod 700 "$machine$home" "$machine$home/project"
      run_commands root "$home" "$home/project"
      ;;
    user)
      chroot "$machine" useradd --create-home newcomer
      echo "newcomer ALL=(ALL) NOPASSWD: ALL" >"$machine/etc/sudoers.d/newcomer"
      home=$(chroot "$machine" sh -c 'echo ~newcomer')
      mkdir -p "$folder/cache/newcomer" "$machine$home/my projects"
      mv "$machine/project" "$machine$home/my projects/tenon"
      chroot "$machine" chown -R newcomer: "$home" /cache/newcomer
      run_commands newcomer "$home" "$home/my projects/tenon"
      ;;
  esac
  umount -R "$machine" 2>/dev/null || true
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
