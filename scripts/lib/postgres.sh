# A temporary PostgreSQL server in a temporary directory, removed when the caller ends, however it ends.
# Sourced after common.sh, never run.
# shellcheck shell=bash

# The directory of the newest PostgreSQL server programs (13 or newer), or nothing.
# PERIGEE_PG_BIN chooses one.
find_postgres() {
  local dir best='' best_major=12 major
  for dir in "${PERIGEE_PG_BIN:-}" /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/local/pgsql/bin \
    "$(dirname "$(command -v initdb || true)")"; do
    if [ -z "$dir" ] || [ ! -x "$dir/initdb" ] || [ ! -x "$dir/pg_ctl" ]; then
      continue
    fi
    major=$("$dir/initdb" --version | sed -E 's/[^0-9]*([0-9]+).*/\1/')
    if [ "$major" -gt "$best_major" ]; then
      best=$dir
      best_major=$major
    fi
    [ "$dir" != "${PERIGEE_PG_BIN:-}" ] || break
  done
  [ -z "$best" ] || printf '%s\n' "$best"
}

# need_postgres: installs a server if there is none that is new enough.
need_postgres() {
  [ -z "$(find_postgres)" ] || return 0
  install_packages postgresql
  [ -n "$(find_postgres)" ] || die "the installed PostgreSQL is older than 13"
}

# as_server COMMAND...: PostgreSQL refuses to run as root, so root switches to the user of the package.
as_server() {
  if [ "$(id -u)" -eq 0 ]; then
    (cd / && exec runuser -u postgres -- "$@")
  else
    "$@"
  fi
}

# start_postgres: starts a server and exports PERIGEE_TEST_POSTGRES, the URL of a superuser. postgres_settings may
# hold lines for its configuration, postgres_preload may name a library to load into it.
#
# fsync stays on, because the service refuses unsafe servers; the directory is in memory if there is room, which makes
# it cheap. Text is collated by ICU if possible, as in most real databases and unlike SQLite: this reveals queries
# that leave the order to the engine.
#
# A guard process cleans up when a pipe is closed. The caller holds the other end, so the guard acts after a normal
# end, a signal and even kill -9.
start_postgres() {
  local bin dir password port attempt major
  local -a locale=(--locale=C --encoding=UTF8)

  need_postgres
  bin=$(find_postgres)
  if [ "$(id -u)" -eq 0 ] && ! id postgres >/dev/null 2>&1; then
    die "PostgreSQL does not run as root and there is no user postgres: useradd --system postgres"
  fi
  major=$("$bin/initdb" --version | sed -E 's/[^0-9]*([0-9]+).*/\1/')
  [ "$major" -lt 15 ] || locale+=(--locale-provider=icu --icu-locale=en-US)

  dir=$(scratch_dir perigee-postgres)
  start_guard "$bin" "$dir"
  password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  mkdir "$dir/socket"
  (umask 077 && printf '%s\n' "$password" >"$dir/password")
  [ "$(id -u)" -ne 0 ] || chown -R postgres "$dir"
  as_server "$bin/initdb" --pgdata="$dir/data" --username=perigee --pwfile="$dir/password" \
    --auth=scram-sha-256 "${locale[@]}" --no-instructions >"$dir/initdb.log" 2>&1 ||
    die "initdb failed: $(cat "$dir/initdb.log")"
  cat >>"$dir/data/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
unix_socket_directories = '$dir/socket'
max_connections = 400
shared_buffers = 64MB
CONF
  printf '%s\n' "${postgres_settings:-}" >>"$dir/data/postgresql.conf"

  # Another process may take the free port before the server listens on it.
  for attempt in 1 2 3 4 5; do
    port=$(free_port)
    if LD_PRELOAD=${postgres_preload:-} as_server "$bin/pg_ctl" start --silent --wait --pgdata="$dir/data" --log="$dir/data/server.log" \
      --options="-p $port" >/dev/null 2>&1 </dev/null {postgres_guard}>&-; then
      export PERIGEE_TEST_POSTGRES="postgres://perigee:$password@127.0.0.1:$port/postgres"
      write_postgres_crash "$bin" "$dir" "$port"
      return 0
    fi
    say "PostgreSQL did not start on port $port (attempt $attempt)"
  done
  die "PostgreSQL did not start: $(tail -n 20 "$dir/data/server.log")"
}

# write_postgres_crash BIN DIR PORT: writes a program, named by postgres_crash, that ends every process of the server
# without warning and starts it again.
write_postgres_crash() {
  # shellcheck disable=SC2034 # used by the scripts
  postgres_crash=$2/crash
  cat >"$2/crash" <<CRASH
#!/usr/bin/env bash
set -euo pipefail
PATH=\$PATH:/usr/sbin:/sbin
cd /
postmaster=\$(head -n 1 "$2/data/postmaster.pid")
kill -KILL "\$postmaster" \$(pgrep -P "\$postmaster") 2>/dev/null || true
start=("$1/pg_ctl" start --silent --wait --timeout=60 --pgdata="$2/data" --log="$2/data/server.log" --options="-p $3")
[ "\$(id -u)" -ne 0 ] || start=(runuser -u postgres -- "\${start[@]}")
# The server refuses to start until the last of them is gone.
for _ in {1..20}; do
  if "\${start[@]}" >/dev/null 2>&1 </dev/null; then
    exit 0
  fi
  sleep 0.1
done
exit 1
CRASH
  chmod 755 "$2/crash"
}

# start_guard BIN DIR: the process that stops the server in DIR and removes DIR when the caller is gone.
start_guard() {
  local bin=$1 dir=$2
  mkfifo "$dir/alive"
  # shellcheck disable=SC2016 # expanded by the inner shell
  setsid bash -c '
    read -r _ <"$2/alive" || true
    if [ -e "$2/data/postmaster.pid" ]; then
      cd /
      stop=("$1/pg_ctl" stop --silent --wait --pgdata="$2/data")
      [ "$(id -u)" -ne 0 ] || stop=(runuser -u postgres -- "${stop[@]}")
      "${stop[@]}" --mode=fast --timeout=20 || "${stop[@]}" --mode=immediate --timeout=20
    fi
    rm -rf "$2"
  ' guard "$bin" "$dir" </dev/null >/dev/null 2>&1 &
  postgres_guard_pid=$!
  exec {postgres_guard}>"$dir/alive"
  trap stop_postgres EXIT
}

# stop_postgres: closes the pipe of the guard and waits until it has cleaned up.
stop_postgres() {
  [ -n "${postgres_guard:-}" ] || return 0
  exec {postgres_guard}>&-
  postgres_guard=
  unset PERIGEE_TEST_POSTGRES
  wait "$postgres_guard_pid" 2>/dev/null || true
}

# without_guard COMMAND...: runs a command that does not keep the server alive by inheriting the pipe.
without_guard() {
  if [ -n "${postgres_guard:-}" ]; then
    "$@" {postgres_guard}>&-
  else
    "$@"
  fi
}

# with_postgres COMMAND...: runs the command with PERIGEE_TEST_POSTGRES set, against a server of its own unless
# the caller brought one.
with_postgres() {
  local status=0
  if [ -n "${PERIGEE_TEST_POSTGRES:-}" ]; then
    "$@"
    return
  fi
  start_postgres
  without_guard "$@" || status=$?
  stop_postgres
  return "$status"
}
