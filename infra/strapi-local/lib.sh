# Functions that up.sh and down.sh share. Source this file; do not run it.
# $STRAPI_LOCAL_HOME contains everything that is created at run time (default: .work in the folder of this file).
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WORK=$(realpath -m "${STRAPI_LOCAL_HOME:-$HERE/.work}")
CORPUS=$(realpath -m "${STRAPI_LOCAL_CORPUS:-$HERE/../../test/conformance}")   # folder with load.mjs, fixtures/, schema/
PG_PORT=${STRAPI_LOCAL_PG_PORT:-55432}
PGDATA_DIR=$WORK/pg/data
say() { echo "[strapi-local +${SECONDS}s] $*" >&2; }
die() { echo "[strapi-local] $*" >&2; exit 1; }
need_root() { [ "$(id -u)" = 0 ] || die "$1: run this once as root"; }

check_node() {
  command -v node >/dev/null || die "node is missing (20 or newer is needed)"
  command -v npm >/dev/null || die "npm is missing"
  [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || die "node $(node -v) is too old (20 or newer is needed)"
}

# ---- PostgreSQL ------------------------------------------------------------------------------
find_pg() {
  if [ -n "${STRAPI_LOCAL_PG_BIN:-}" ]; then PGBIN=$STRAPI_LOCAL_PG_BIN; return 0; fi
  local d
  for d in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV); do
    [ -x "$d/initdb" ] && [ -x "$d/pg_ctl" ] && [ -x "$d/psql" ] && { PGBIN=$d; return 0; }
  done
  d=$(pg_config --bindir 2>/dev/null) && [ -x "$d/initdb" ] && { PGBIN=$d; return 0; }
  return 1
}
install_pg() {
  find_pg && return 0
  command -v apt-get >/dev/null || die "PostgreSQL is missing and there is no apt-get; set STRAPI_LOCAL_PG_BIN to a folder with initdb, pg_ctl and psql"
  need_root "PostgreSQL is missing"
  say "installing PostgreSQL (apt)"; mkdir -p "$WORK"
  { export DEBIAN_FRONTEND=noninteractive
    apt-get update -q && apt-get install -y -q --no-install-recommends postgresql-common
    # Debian must not create its default cluster: start_pg creates its own.
    sed -i 's/^#\?create_main_cluster *=.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
    apt-get install -y -q --no-install-recommends postgresql; } > "$WORK/apt.log" 2>&1 </dev/null || { tail -20 "$WORK/apt.log" >&2; die "apt-get failed, see $WORK/apt.log"; }
  find_pg || die "PostgreSQL is still not found after the installation"
}
as_pg() {  # PostgreSQL refuses to run as root
  if [ "$(id -u)" = 0 ]; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi
}
pg_running() { [ -f "$PGDATA_DIR/postmaster.pid" ] && as_pg "$PGBIN/pg_ctl" -D "$PGDATA_DIR" status >/dev/null 2>&1; }
start_pg() {
  install_pg
  mkdir -p "$WORK/pg"
  if [ "$(id -u)" = 0 ]; then
    id postgres >/dev/null 2>&1 || die "there is no system user postgres"
    chown postgres: "$WORK/pg"
    as_pg test -w "$WORK/pg" || die "the user postgres cannot reach $WORK/pg: set STRAPI_LOCAL_HOME to a folder whose parents others may enter"
  fi
  if [ ! -f "$PGDATA_DIR/PG_VERSION" ]; then
    say "initdb ($("$PGBIN/initdb" --version))"
    as_pg "$PGBIN/initdb" -D "$PGDATA_DIR" -U postgres -A trust -E UTF8 --locale=C.UTF-8 >"$WORK/initdb.log" 2>&1 || { tail -5 "$WORK/initdb.log" >&2; die "initdb failed"; }
    local shm; shm=$(df -Pk /dev/shm 2>/dev/null | awk 'NR==2{print $2}')
    as_pg tee -a "$PGDATA_DIR/postgresql.conf" >/dev/null <<CONF
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
shared_buffers = ${STRAPI_LOCAL_PG_SHARED_BUFFERS:-1GB}
effective_cache_size = 4GB
work_mem = 16MB
synchronous_commit = off
timezone = 'UTC'
log_timezone = 'UTC'
$([ "${shm:-0}" -ge 262144 ] || echo "dynamic_shared_memory_type = sysv")
CONF
  fi
  if pg_running; then PG_PORT=$(sed -n 4p "$PGDATA_DIR/postmaster.pid"); else
    as_pg "$PGBIN/pg_ctl" -D "$PGDATA_DIR" -o "-p $PG_PORT" -l "$WORK/pg/log" -w -t 60 start >/dev/null </dev/null || { tail -5 "$WORK/pg/log" >&2; die "PostgreSQL does not start on port $PG_PORT (STRAPI_LOCAL_PG_PORT sets another)"; }
    say "PostgreSQL started on port $PG_PORT"
  fi
  PG_PID=$(sed -n 1p "$PGDATA_DIR/postmaster.pid")
  export PGHOST=127.0.0.1 PGPORT=$PG_PORT PGUSER=postgres PGBIN
}
sql() { local db=$1; shift; PGOPTIONS='--client-min-messages=warning' "$PGBIN/psql" -qAtX -v ON_ERROR_STOP=1 -d "$db" "$@"; }
db_exists() { [ "$(sql postgres -c "select 1 from pg_database where datname='$1'")" = 1 ]; }
# The comment of a database names its fixtures. It is deleted with the database.
db_mark() { sql postgres -c "select coalesce(shobj_description(oid,'pg_database'),'') from pg_database where datname='$1'"; }
set_db_mark() { sql postgres -c "comment on database \"$1\" is '$2'"; }
recreate_db() { sql postgres -c "drop database if exists \"$1\" with (force)" -c "create database \"$1\""; }

# ---- Strapi ----------------------------------------------------------------------------------
hash_files() { (cd "$1" && shift && find "$@" -type f | LC_ALL=C sort | xargs -d '\n' sha256sum) | sha256sum | cut -c1-16; }
install_strapi() {
  local dir=$WORK/strapi h
  mkdir -p "$dir/public/uploads"
  rm -rf "$dir/src" "$dir/config"; cp -r "$HERE/strapi/src" "$HERE/strapi/config" "$dir/"
  cp "$HERE/strapi/package.json" "$HERE/strapi/package-lock.json" "$dir/"
  h=$(hash_files "$HERE/strapi" package.json package-lock.json)-$(node -p process.version)
  if [ "$(cat "$dir/.installed" 2>/dev/null)" != "$h" ]; then
    say "npm install (about 700 MB on disk)"
    # Not `npm ci`: the lock file lacks the packages of other platforms. Versions still come from the lock file.
    (cd "$dir" && npm install --ignore-scripts --no-audit --no-fund) >"$WORK/npm.log" 2>&1 </dev/null || { tail -20 "$WORK/npm.log" >&2; die "npm install failed, see $WORK/npm.log"; }
    echo "$h" > "$dir/.installed"; say "npm install done"
  fi
}
# Prints the start time of a process, or nothing for a zombie. It differs if another process has reused the pid.
start_time() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1!="Z"{print $20}' || true; }
# The pid file of a Strapi has: pid, start time, database, strict, hash of its code.
code_hash() { hash_files "$HERE/strapi" config src package.json package-lock.json; }
strapi_alive() { local f=$WORK/strapi-$1.pid p s; [ -f "$f" ] || return 1; read -r p s _ < "$f"; [ -n "$s" ] && [ "$(start_time "$p")" = "$s" ]; }
strapi_serves() { strapi_alive "$1" && [ "$(cut -d' ' -f3- "$WORK/strapi-$1.pid")" = "$2 $3 $(code_hash)" ]; }
healthy() { node -e 'fetch(process.argv[1]+"/_health").then(r=>process.exit(r.ok?0:1),()=>process.exit(1))' "http://127.0.0.1:$1"; }
stop_strapi() {
  local f=$WORK/strapi-$1.pid p i
  if strapi_alive "$1"; then
    read -r p _ < "$f"; kill "$p" 2>/dev/null || true
    for i in $(seq 1 50); do strapi_alive "$1" || break; sleep 0.2; done
    if strapi_alive "$1"; then kill -9 "$p" 2>/dev/null || true; fi
    say "Strapi on port $1 stopped (pid $p)"
  fi
  rm -f "$f"
}
start_strapi() {  # port db strict
  local port=$1 db=$2 strict=$3 p i
  if node -e 'const s=require("net").connect(+process.argv[1],"127.0.0.1");s.on("connect",()=>process.exit(0));s.on("error",()=>process.exit(1))' "$port"; then die "port $port is taken by another process"; fi
  (cd "$WORK/strapi"; NODE_ENV=production STRAPI_TELEMETRY_DISABLED=true STRAPI_DISABLE_UPDATE_NOTIFICATION=true TZ=UTC STRAPI_LOG_LEVEL=error \
    PORT=$port DATABASE_NAME=$db DATABASE_PORT=$PG_PORT STRICT=$strict \
    setsid nohup node node_modules/@strapi/strapi/bin/strapi.js start >"$WORK/strapi-$port.log" 2>&1 </dev/null & echo $! > "$WORK/strapi-$port.new")
  p=$(cat "$WORK/strapi-$port.new"); rm -f "$WORK/strapi-$port.new"
  echo "$p $(start_time "$p") $db $strict $(code_hash)" > "$WORK/strapi-$port.pid"
  for i in $(seq 1 240); do
    healthy "$port" && { say "Strapi is up on port $port (pid $p, database $db)"; return 0; }
    strapi_alive "$port" || { tail -20 "$WORK/strapi-$port.log" >&2; rm -f "$WORK/strapi-$port.pid"; die "Strapi ended during its start, see $WORK/strapi-$port.log"; }
    sleep 0.5
  done
  die "Strapi is not healthy after 120 s, see $WORK/strapi-$port.log"
}
stop_strapis_of_db() { local f p; for f in "$WORK"/strapi-*.pid; do [ -f "$f" ] || continue; [ "$(cut -d' ' -f3 "$f")" = "$1" ] || continue; p=${f##*/strapi-}; stop_strapi "${p%.pid}"; done; }
report() { echo "base=http://127.0.0.1:$1"; echo "strapi_pid=$(cut -d' ' -f1 "$WORK/strapi-$1.pid")"; echo "postgres_pid=$PG_PID postgres_port=$PG_PORT database=$2"; }
lock() { mkdir -p "$WORK"; exec 9>"$WORK/lock"; flock -w 900 9 || die "another up/down is at work"; }
