# A temporary Perigee server with an account, an API key and a token, on either database.
# Sourced after common.sh, never run.
# shellcheck shell=bash
# shellcheck disable=SC2154 # root is set by common.sh

# build_perigee: sets "perigee" to the binary: PERIGEE_BIN if given, else a fresh build. The scope of the build
# is that of the tests, so that both share what they compile.
build_perigee() {
  perigee=${PERIGEE_BIN:-}
  if [ -z "$perigee" ]; then
    (cd "$root" && cargo build --workspace --all-features --all-targets --locked >&2)
    perigee=${CARGO_TARGET_DIR:-$root/target}/debug/perigee
  fi
  [ -x "$perigee" ] || die "$perigee is not a program"
}

# start_server ENGINE: starts a server on a free port with a store of its own and sets
# server_url, server_dir, server_pid. ENGINE is sqlite or postgres (which needs PERIGEE_TEST_POSTGRES).
start_server() {
  local engine=$1
  server_dir=$(scratch_dir "perigee-$engine")
  store=(--data "$server_dir/data")
  mkdir "$server_dir/data"
  case $engine in
    sqlite) ;;
    postgres) store+=(--database "${PERIGEE_TEST_POSTGRES:?}") ;;
    *) die "no engine is called $engine" ;;
  esac
  (
    # If the server inherited the pipe, the database would keep running after this script.
    [ -z "${postgres_guard:-}" ] || exec {postgres_guard}>&-
    export PERIGEE_LIMITS__REQUESTS_PER_SECOND=100000 PERIGEE_LIMITS__BURST=100000
    exec "$perigee" serve --listen 127.0.0.1:0 "${store[@]}"
  ) >"$server_dir/stdout" 2>"$server_dir/log" </dev/null &
  server_pid=$!
  server_url=
  for _ in $(seq 300); do
    server_url=$(sed -nE 's,^listening on (https?://[^ ]+).*,\1,p' "$server_dir/stdout" | head -n 1)
    [ -z "$server_url" ] || break
    kill -0 "$server_pid" 2>/dev/null || die "the server ended at once: $(tail -n 20 "$server_dir/log")"
    sleep 0.1
  done
  [ -n "$server_url" ] || die "the server did not say that it listens: $(tail -n 20 "$server_dir/log")"
  server_url=${server_url%/}
  say "$engine: $server_url"
}

# stop_server: asks the server to end, fails if it did so badly, and removes its store.
stop_server() {
  local status=0
  [ -n "${server_pid:-}" ] || return 0
  kill -TERM "$server_pid" 2>/dev/null || true
  wait "$server_pid" || status=$?
  server_pid=
  if [ "$status" -ne 0 ] || grep -q 'panicked at' "$server_dir/log"; then
    say "the server ended with status $status: $(tail -n 20 "$server_dir/log")"
    rm -rf "$server_dir"
    return 1
  fi
  rm -rf "$server_dir"
}

# json FIELD: the value of a member of the JSON object on standard input.
json() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# make_account EMAIL: makes an account whose owner has an API key; sets account_email, account_user, api_key.
make_account() {
  local made
  account_email=$1
  made=$("$perigee" account create --name "Test fleet" --licenses 1000 --owner-email "$1" --json "${store[@]}")
  # shellcheck disable=SC2034 # used by the scripts
  account_user=$(json userId <<<"$made")
  api_key=$("$perigee" key issue --email "$1" --json "${store[@]}" | json apiKey)
}

# get_token: prints a bearer token for the account made before.
get_token() {
  python3 - "$server_url" "$account_email" "$api_key" <<'PYTHON'
import json, sys, urllib.request

base, user, key = sys.argv[1:]
request = urllib.request.Request(
    base + "/api/Auth/Token",
    data=json.dumps({"userName": user, "apiKey": key}).encode(),
    headers={"Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as answer:
    print(json.load(answer)["token"])
PYTHON
}

# python_tools NAME PACKAGE...: sets "tools" to the bin directory of a virtual environment with these packages.
python_tools() {
  local name=$1 venv stamp
  shift
  need python3 python3 python3-venv
  python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3-venv
  venv=$root/.venv/$name
  stamp="$(python3 --version) $*"
  if [ "$(cat "$venv/stamp" 2>/dev/null || true)" != "$stamp" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
    printf '%s\n' "$stamp" >"$venv/stamp"
  fi
  # shellcheck disable=SC2034 # used by the scripts
  tools=$venv/bin
}
