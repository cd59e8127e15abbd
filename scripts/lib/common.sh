# Shared by every script: the root of the repository, messages, and installing missing packages.
# Sourced, never run.
# shellcheck shell=bash

# The root of the repository, wherever the script was called from.
# shellcheck disable=SC2034 # used by the scripts
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# The PATH of root does not always include the folder of runuser.
PATH=$PATH:/usr/sbin:/sbin

say() { printf '%s\n' "$*" >&2; }

die() {
  say "error: $*"
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# install_packages PACKAGE...: installs Debian packages, or says exactly which to install and exits. Services of a
# package are not started: a temporary policy file prevents it.
install_packages() {
  if ! have apt-get; then
    die "missing software: please install the equivalent of these Debian packages: $*"
  elif [ "$(id -u)" -ne 0 ]; then
    die "missing software: please run: sudo apt-get install --no-install-recommends $*"
  fi
  say "installing $*"
  (
    if [ ! -e /usr/sbin/policy-rc.d ]; then
      trap 'rm -f /usr/sbin/policy-rc.d' EXIT
      printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
      chmod 755 /usr/sbin/policy-rc.d
    fi
    { [ -n "${PERIGEE_APT_UPDATED:-}" ] || apt-get -qq update; } &&
      DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"
  ) >&2 </dev/null || die "apt-get could not install: $*"
  # For the scripts that this one calls.
  export PERIGEE_APT_UPDATED=1
}

# need COMMAND PACKAGE...: installs the packages if the command is missing.
need() {
  local command=$1
  shift
  have "$command" || install_packages "$@"
}

# A TCP port of 127.0.0.1 that was free a moment ago. Perl is in every Debian system.
free_port() {
  perl -MSocket -e '
    socket(my $s, PF_INET, SOCK_STREAM, 0) or die $!;
    bind($s, pack_sockaddr_in(0, INADDR_LOOPBACK)) or die $!;
    print +(unpack_sockaddr_in(getsockname($s)))[0], "\n";'
}

# scratch_dir NAME: makes a temporary directory: in PERIGEE_SCRATCH if that is set, else in memory when there is a
# gibibyte to spare.
scratch_dir() {
  local base=${PERIGEE_SCRATCH:-${TMPDIR:-/tmp}} room=0
  if [ -z "${PERIGEE_SCRATCH:-}" ] && [ -d /dev/shm ] && [ -w /dev/shm ]; then
    room=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1 || true)
    [ "${room:-0}" -lt 1048576 ] || base=/dev/shm
  fi
  mktemp -d "$base/$1.XXXXXXXX"
}
