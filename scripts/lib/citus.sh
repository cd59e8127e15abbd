# A temporary Citus cluster: a coordinator and two workers, each a PostgreSQL server of its own on 127.0.0.1, removed
# when the caller ends, however it ends. Sourced after common.sh and postgres.sh, never run.
# shellcheck shell=bash

# need_citus: ends the script with status 3 unless the newest PostgreSQL of this machine has the extension.
need_citus() {
  local bin share
  need_postgres
  bin=$(find_postgres)
  share=$("$bin/pg_config" --sharedir 2>/dev/null || pg_config --sharedir)
  if [ ! -e "$share/extension/citus.control" ]; then
    say "error: Citus is not installed: there is no $share/extension/citus.control. Nothing was run."
    say "Install the extension for $("$bin/postgres" --version), from its source: Debian has no package of it."
    exit 3
  fi
}

# citus_settings: the lines that each server of the cluster needs. Every test has a database of its own, and
# each of these a maintenance process. Nothing is reported to anybody.
citus_settings() {
  cat <<CONF
shared_preload_libraries = 'citus'
max_connections = 600
max_worker_processes = 200
max_prepared_transactions = 600
max_locks_per_transaction = 512
shared_buffers = 64MB
wal_level = logical
citus.node_conninfo = 'sslmode=disable'
citus.shard_count = ${PERIGEE_CITUS_SHARDS:-4}
citus.enable_statistics_collection = off
citus.max_cached_conns_per_worker = 1
citus.local_hostname = '127.0.0.1'
citus.background_task_queue_interval = -1
CONF
}

# start_citus: starts the cluster and exports PERIGEE_TEST_POSTGRES, the URL of a superuser on the coordinator, and
# PERIGEE_TEST_CITUS, those of the workers with a space between them. The workers are in the database "postgres"
# of the coordinator; for other databases, the caller creates the extension and adds the workers.
start_citus() {
  local bin dir password name port
  local -a ports=()

  need_citus
  bin=$(find_postgres)
  dir=$(scratch_dir perigee-citus)
  start_guard "$bin" "$dir" coordinator worker1 worker2
  prepare_servers "$dir"
  for name in coordinator worker1 worker2; do
    init_server "$bin" "$dir" "$name" < <(citus_settings)
    boot_server "$bin" "$dir" "$name"
    ports+=("$port")
    PGPASSFILE=$dir/passfile as_server "$bin/psql" -qX -h 127.0.0.1 -p "$port" -U perigee -d postgres \
      -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION citus' >/dev/null || die "the extension cannot be created"
  done
  PGPASSFILE=$dir/passfile as_server "$bin/psql" -qXAt -h 127.0.0.1 -p "${ports[0]}" -U perigee -d postgres \
    -v ON_ERROR_STOP=1 -c "SELECT citus_set_coordinator_host('127.0.0.1', ${ports[0]})" \
    -c "SELECT citus_add_node('127.0.0.1', port) FROM unnest(ARRAY[${ports[1]}, ${ports[2]}]) AS port" >/dev/null ||
    die "the workers cannot be added"
  local base="postgres://perigee:$password@127.0.0.1"
  export PERIGEE_TEST_POSTGRES="$base:${ports[0]}/postgres"
  export PERIGEE_TEST_CITUS="$base:${ports[1]}/postgres $base:${ports[2]}/postgres"
  export PERIGEE_CITUS_DIR=$dir
}
