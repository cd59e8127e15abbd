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
  local bin dir password port major
  local -a locale=()

  need_postgres
  bin=$(find_postgres)
  if [ "$(id -u)" -eq 0 ] && ! id postgres >/dev/null 2>&1; then
    die "PostgreSQL does not run as root and there is no user postgres: useradd --system postgres"
  fi
  major=$("$bin/initdb" --version | sed -E 's/[^0-9]*([0-9]+).*/\1/')
  [ "$major" -lt 15 ] || locale=(--locale-provider=icu --icu-locale=en-US)

  dir=$(scratch_dir perigee-postgres)
  start_guard "$bin" "$dir" data
  prepare_servers "$dir"
  init_server "$bin" "$dir" data "${locale[@]}" <<CONF
max_connections = 400
shared_buffers = 64MB
CONF
  boot_server "$bin" "$dir" data
  export PERIGEE_TEST_POSTGRES="postgres://perigee:$password@127.0.0.1:$port/postgres"
  # A program that ends every process of the server without warning and starts it again.
  # shellcheck disable=SC2034 # used by the scripts
  postgres_crash=$dir/crash
  printf '#!/usr/bin/env bash\n"%s/kill-data"\nexec "%s/start-data"\n' "$dir" "$dir" >"$dir/crash"
  chmod 755 "$dir/crash"
}

# prepare_servers DIR: sets "password", that of the superuser "perigee" of every server in DIR, and creates the folder
# for its sockets.
prepare_servers() {
  password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  mkdir "$1/socket"
  (umask 077 && printf '%s\n' "$password" >"$1/password" && printf '127.0.0.1:*:*:perigee:%s\n' "$password" >"$1/passfile")
  [ "$(id -u)" -ne 0 ] || chown -R postgres "$1"
}

# init_server BIN DIR NAME OPTION...: creates the server DIR/NAME with options of initdb, and the settings of standard
# input.
init_server() {
  local bin=$1 dir=$2 name=$3
  shift 3
  as_server "$bin/initdb" --pgdata="$dir/$name" --username=perigee --pwfile="$dir/password" \
    --auth=scram-sha-256 --locale=C --encoding=UTF8 "$@" --no-instructions >"$dir/initdb.log" 2>&1 </dev/null ||
    die "initdb failed: $(cat "$dir/initdb.log")"
  {
    printf "listen_addresses = '127.0.0.1'\nunix_socket_directories = '%s'\n" "$dir/socket"
    cat
    printf '%s\n' "${postgres_settings:-}"
  } >>"$dir/$name/postgresql.conf"
}

# boot_server BIN DIR NAME: starts a server and sets "port". Servers connect to each other with the password file.
boot_server() {
  local bin=$1 dir=$2 name=$3 attempt
  # Another process may take the free port before the server listens on it.
  for attempt in 1 2 3 4 5; do
    port=$(free_port)
    if PGPASSFILE=$dir/passfile LD_PRELOAD=${postgres_preload:-} as_server "$bin/pg_ctl" start --silent --wait \
      --pgdata="$dir/$name" --log="$dir/$name/server.log" --options="-p $port" \
      >/dev/null 2>&1 </dev/null {postgres_guard}>&-; then
      write_server_control "$bin" "$dir" "$name" "$port"
      return 0
    fi
    say "PostgreSQL did not start on port $port (attempt $attempt)"
  done
  die "PostgreSQL did not start: $(tail -n 20 "$dir/$name/server.log")"
}

# write_server_control BIN DIR NAME PORT: writes programs that end every process of a server without warning
# (DIR/kill-NAME) and start it again (DIR/start-NAME).
write_server_control() {
  cat >"$2/kill-$3" <<KILL
#!/usr/bin/env bash
postmaster=\$(head -n 1 "$2/$3/postmaster.pid")
kill -KILL "\$postmaster" \$(pgrep -P "\$postmaster") 2>/dev/null || true
KILL
  cat >"$2/start-$3" <<START
#!/usr/bin/env bash
PATH=\$PATH:/usr/sbin:/sbin
cd /
export PGPASSFILE="$2/passfile"
start=("$1/pg_ctl" start --silent --wait --timeout=60 --pgdata="$2/$3" --log="$2/$3/server.log" --options="-p $4")
[ "\$(id -u)" -ne 0 ] || start=(runuser -u postgres -- "\${start[@]}")
# The server refuses to start until the last process of the previous one has ended.
for _ in {1..20}; do
  if "\${start[@]}" >/dev/null 2>&1 </dev/null; then
    exit 0
  fi
  sleep 0.1
done
exit 1
START
  chmod 755 "$2/kill-$3" "$2/start-$3"
}

# start_guard BIN DIR NAME...: the process that stops these servers in DIR and removes DIR when the caller has ended.
start_guard() {
  mkfifo "$2/alive"
  # shellcheck disable=SC2016 # expanded by the inner shell
  setsid bash -c '
    PATH=$PATH:/usr/sbin:/sbin
    read -r _ <"$2/alive" || true
    cd /
    for name in "${@:3}"; do
      [ -e "$2/$name/postmaster.pid" ] || continue
      stop=("$1/pg_ctl" stop --silent --wait --pgdata="$2/$name")
      [ "$(id -u)" -ne 0 ] || stop=(runuser -u postgres -- "${stop[@]}")
      "${stop[@]}" --mode=fast --timeout=20 || "${stop[@]}" --mode=immediate --timeout=20
    done
    rm -rf "$2"
  ' guard "$@" </dev/null >/dev/null 2>&1 &
  postgres_guard_pid=$!
  exec {postgres_guard}>"$2/alive"
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
