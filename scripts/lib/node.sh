# Node and the packages of a folder. Sourced after common.sh, never run.
# shellcheck shell=bash

# need_node: ends the script unless there is a Node that the console's tools run on.
need_node() {
  need npm nodejs npm
  local version
  version=$(node --version)
  version=${version#v}
  [ "${version%%.*}" -ge 20 ] || die "Node 20 or newer is needed, and this is $version: install it from nodejs.org"
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
