#!/usr/bin/env bash
# distrun on several hosts, which scripts/cluster imitates: how nodes are started, what becomes of a run if a host, a
# process or the network fails, and that nothing is left then.
#
# usage: hosts.sh BUILD ssh | slurm | exec | lost | ends | joining
# Exit status: 77 if this machine cannot imitate hosts, or lacks the programs, which it says.
set -euo pipefail
self=$(readlink -f "$0")
cluster=${self%/*/*/*}/scripts/cluster
export PATH=$PATH:/usr/sbin:/sbin

skip() {
  echo "skipped: $*"
  exit 77
}
fail() {
  echo "$*"
  echo "distrun has printed:"
  cat out 2>/dev/null
  exit 1
}
needs() {
  local program
  [ "$EUID" -eq 0 ] || skip "this needs root"
  for program in "$@"; do
    command -v "$program" >/dev/null || skip "there is no $program; scripts/setup --cluster installs it"
  done
}

# ---- On the head

# How many times longer this may take than on an idle machine.
load() {
  local running
  running=$(sed -n 's/^procs_running //p' /proc/stat)
  awk -v running="$running" -v cpus="$(nproc)" -v scale="${DISTRUN_TIMEOUT_SCALE_FOR_TESTS:-1}" \
    'BEGIN { load = running / cpus; print scale * (load < 2 ? 2 : load > 8 ? 8 : load) }'
}
now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }
within() { # MILLISECONDS WHAT: since `began`
  local took
  took=$(($(now_ms) - began))
  awk -v took="$took" -v limit="$1" -v load="$(load)" 'BEGIN { exit took > limit * load }' ||
    fail "$2: after $took ms, and $1 ms are allowed on an idle machine"
}
on() { cluster-do --pids "$1" | awk -v name="$2" '$2 == name { print $1 }'; } # HOST NAME: process ids

# run EXIT_STATUS ARGUMENTS...: a run that ends by itself.
run() {
  local status=0 wanted=$1
  shift
  rm -f out summary.json
  "$distrun" --json summary.json "$@" >out 2>&1 || status=$?
  [ "$status" -eq "$wanted" ] || fail "distrun $* exited with $status; expected $wanted"
}
# program EXIT_STATUS OPTIONS... -- PROGRAM...: a program as ranks, without prefixes; out has both streams.
program() {
  local status=0 wanted=$1
  shift
  rm -f out summary.json
  "$distrun" exec --no-prefix --json summary.json "$@" >out 2>&1 || status=$?
  [ "$status" -eq "$wanted" ] || fail "distrun exec $* exited with $status; expected $wanted"
}
prints() { # LINES: in any order; a slow machine may also be told what is waited for
  [ "$(grep -v '^exec[^ ]* after [0-9.]* s: ' out | sort)" = "$1" ] || fail "expected these lines:"$'\n'"$1"
}
# begin ARGUMENTS...: a run whose ranks sleep; returns when they are there on node02. Other than a program that a shell
# starts in the background, it does not ignore SIGINT.
start() {
  rm -f out summary.json
  env --default-signal=INT "$distrun" -w 4 --timeout 300s --filter 'Hangs.all_*' --json summary.json "$@" "$hangs" \
    >out 2>&1 &
  run=$!
}
begin() {
  start "$@"
  until [ "$(on node02 distrun-rank | wc -l)" -ge 3 ]; do # a zygote, two ranks
    kill -s 0 "$run" || fail "the run has ended too early"
    sleep 0.05
  done
}
ends_with() { # EXIT_STATUS
  local status=0
  wait "$run" 2>/dev/null || status=$?
  [ "$status" -eq "$1" ] || fail "the run exited with $status; expected $1"
}
says() { grep --quiet --regexp="$1" out || fail "the output lacks: $1"; }
processes() { ps -o comm= -C distrun,distrun-rank,distrun-probe,distrun-store,ssh,srun; }
files() {
  local host
  for host in ${CLUSTER_HOSTS//,/ }; do
    cluster-do "$host" find /tmp /dev/shm -name '*distrun*' ! -path "$PWD/*" | sed "s/^/$host: /"
  done
}
nothing_left() { # MILLISECONDS [FILES_TOO]: after the end of the run
  local left
  began=$(now_ms)
  while left=$(processes); do
    within "$1" "processes are left:"$'\n'"$left"
    sleep 0.05
  done
  [ "${2:-yes}" = no ] || left=$(files)
  [ -z "$left" ] || fail "files are left: $left"
}
ranks_on() { # HOSTS: of the ranks of the first test, in order
  local found
  found=$(python3 -c 'import json
test = json.load(open("summary.json"))["tests"][0]
print(*[rank["host"] for rank in test["attempts"][0]["ranks"]])')
  [ "$found" = "$1" ] || fail "the ranks ran on $found; expected $1"
}

verdict_is() { # VERDICT: of the first test
  local found
  found=$(python3 -c 'import json; print(json.load(open("summary.json"))["tests"][0]["verdict"])')
  [ "$found" = "$1" ] || fail "the verdict is $found; expected $1"
}
# Starts gdb on a rank of node02, from a terminal.
attaches() {
  local id what
  command -v script >/dev/null && command -v gdb >/dev/null || return 0
  id=$("$distrun" ps | sed -n 's/^run \([^ ]*\) .*/\1/p')
  printf 'detach\nquit\n' | script --quiet --command "$distrun attach $id 3" /dev/null >attached 2>&1 || true
  for what in 'gdb on rank 3 on node02 (pid' '(process [0-9]*) detached'; do
    grep --quiet "$what" attached || fail "attach says: $(cat attached)"
  done
}

# The clocks of the hosts are far apart, but a trace shows each call before its handler, and that before the reply.
has_one_clock() {
  run 0 -w 2 --hosts node01,node02 --trace traces --filter Traced.calls "$build/plugins/traced.so"
  python3 - <<'END' || fail "the trace has the wrong times"
import json
trace = json.load(open("traces/Traced.calls.json"))
names = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}
assert sorted(names.values()) == ["rank 0 on node01", "rank 1 on node02"], names
def begins(rank, what):
    return sorted(e["ts"] for e in trace["traceEvents"]
                  if e["ph"] == "X" and names[e["pid"]] == rank and e["name"].startswith(what + ' "doubled"'))
calls, replies = begins("rank 0 on node01", "calls"), begins("rank 0 on node01", "reply of")
handlers = begins("rank 1 on node02", "handler")
assert len(calls) == len(handlers) == len(replies) == 2, trace
for call, handler, reply in zip(calls, handlers, replies):
    assert call - 100000 < handler < reply + 100000, (call, handler, reply)  # microseconds: on a busy machine
END
}
# Starts a rank of node02 under gdb, from a terminal.
debugs() {
  command -v script >/dev/null && command -v gdb >/dev/null || return 0
  printf 'continue\nquit\n' | script --quiet --return --command "$distrun -w 4 --hosts node01,node02 --debug 3 \
    --filter Ring.token_visits_every_rank_in_order $ring" /dev/null >out 2>&1 || fail "a run with --debug failed"
  says 'gdb on rank 3 on node02 (pid'
  says '1 pass'
}

head_ssh() {
  local visit=(--filter Ring.token_visits_every_rank_in_order "$ring")
  run 0 -w 4 --hosts node01,node02 "$ring"
  ranks_on "node01 node01 node02 node02"
  run 0 -w 6 --hosts node01,node02,node03 "${visit[@]}"
  ranks_on "node01 node01 node02 node02 node03 node03"
  run 0 -w 4 --hosts node01,node02:3,node03 --per-host 3 "${visit[@]}"
  ranks_on "node01 node01 node01 node02"
  run 0 -w 4 --hosts node02,node01 --launcher 'ssh {host} {node}' "${visit[@]}"
  ranks_on "node02 node02 node01 node01"
  run 1 -w 4 --hosts node01,node02 --timeout 1s --filter Hangs.all_sleep "$hangs"
  says 'ranks 0-1 on node01, 2-3 on node02 sleep'
  run 1 -w 2 --hosts node01,node02 --filter Leaves.tagged_file "$build/plugins/fixtures/fixture_leaves.so"
  says '^leak .*/tmp/.* on node02$'
  run 1 -w 4 --hosts node01,node02 --private-tmp --filter Privates.leaves "$build/plugins/fixtures/fixture_privates.so"
  says '^leak .*/tmp/fixture-untagged-socket (private) on node01'
  run 0 -w 4 --hosts node01,node02 --stress 2s --filter Ring.token_visits_every_rank_in_order "$ring"
  says 'stress of Ring.token_visits_every_rank_in_order: 0 of '
  has_one_clock
  debugs
  nothing_left 2000
  begin --hosts node01,node02
  attaches
  kill -s INT "$run"
  ends_with 130
  nothing_left 2000
}

# Ranks of all hosts meet where rank 0 listens.
meeting='
import os, socket, time
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if rank == 0:
    server = socket.create_server(place)
    met = [server.accept()[0].makefile().readline().strip() for _ in range(size - 1)]
    print("rank 0 has met", *sorted(met), flush=True)
else:
    while True:
        try:
            connection = socket.create_connection(place)
            break
        except ConnectionRefusedError:
            time.sleep(0.01)
    connection.sendall(b"rank %d\n" % rank)
'
head_exec() {
  # shellcheck disable=SC2016 # for the shells of ranks
  FROM_HEAD=yes TMPDIR=$PWD program 0 --hosts node01,node02 -w 4 -- \
    sh -c 'echo $RANK $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK $(hostname) $HOSTNAME $FROM_HEAD ${TMPDIR-none} $PWD'
  prints "0 0 2 0 node01 node01 yes none $PWD
1 1 2 0 node01 node01 yes none $PWD
2 0 2 1 node02 node02 yes none $PWD
3 1 2 1 node02 node02 yes none $PWD"
  program 0 --hosts node01,node02,node03 -w 5 -- python3 -c "$meeting"
  prints "rank 0 has met rank 1 rank 2 rank 3 rank 4"

  # The reader begins late. Until then ranks wait, and the hosts are not taken for lost.
  local sum
  sum=$(seq 500000 | md5sum)
  "$distrun" exec --hosts node01,node02 -w 2 --per-rank-log logs -- seq 500000 2>err | (
    sleep 2
    cut -d ' ' -f 3 | sort -n | uniq | md5sum
  ) >out || fail "a slow reader: $(cat err)"
  says "^${sum%% *} "
  [ "$(cat logs/rank0.out logs/rank1.out | md5sum)" = "$( (seq 500000 && seq 500000) | md5sum)" ] ||
    fail "the logs differ from what was written"

  seq 100000 | "$distrun" exec --no-prefix --hosts node01,node02 -w 2 --stdin 1 -- md5sum >out 2>&1 ||
    fail "exec --stdin exited with $?"
  prints "$( (seq 100000 | md5sum && md5sum </dev/null) | sort)"

  # A host that lacks the program: then no rank begins.
  cluster-do node01 sh -c 'printf "#!/bin/sh\ntouch began\n" >/tmp/only-here && chmod +x /tmp/only-here'
  program 3 --hosts node01,node02 -w 2 -- /tmp/only-here
  says 'cannot run /tmp/only-here: No such file or directory (ENOENT) (on node02)'
  [ ! -e began ] || fail "a rank has begun on node01"

  # shellcheck disable=SC2016
  program 1 --hosts node01,node02 -w 4 -- sh -c '[ $RANK = 2 ] && exit 3; exec sleep 1000'
  says 'rank 2 on node02: exited with code 3'
  # shellcheck disable=SC2016
  program 1 --hosts node01,node02 -w 2 -- \
    sh -c 'if [ $RANK = 1 ]; then setsid sleep 1234 >/dev/null 2>&1 & touch /dev/shm/$DISTRUN_RUN_ID; fi'
  says 'sleep 1234.* on node02'
  says '/dev/shm/.* on node02'
  nothing_left 2000

  # A host is lost while its ranks write as much as they can.
  # shellcheck disable=SC2016
  "$distrun" exec --hosts node01,node02 -w 2 -- sh -c 'touch begun$RANK; exec yes' >/dev/null 2>out &
  run=$!
  until [ -e begun0 ] && [ -e begun1 ]; do sleep 0.05; done
  began=$(now_ms)
  cluster-do --blackhole node02
  ends_with 3
  within 2500 "the program ended"
  says 'node02 was lost: silent for 600.0 ms: its host or the network does not answer'
  nothing_left 2000
  cluster-do --undo node02
}

head_exec_in_slurm() {
  # shellcheck disable=SC2016 # for the shells of ranks
  local script='echo $RANK $(hostname) $HOSTNAME ${SLURM_PROCID-none} ${SLURM_NTASKS-none} $SLURM_JOB_NAME'
  local both="0 node01 node01 none none mine
1 node01 node01 none none mine
2 node02 node02 none none mine
3 node02 node02 none none mine"
  salloc --quiet --nodes=2 --job-name=mine "$distrun" exec --no-prefix -w 4 -- sh -c "$script" >out 2>&1 ||
    fail "salloc exited with $?"
  prints "$both"
  printf '#!/bin/sh\nexec %s exec --no-prefix -w 4 -- sh -c '"'%s'"'\n' "$distrun" "$script" >job
  rm -f out
  sbatch --quiet --wait --nodes=2 --job-name=mine --output=out job
  prints "$both"
}

gone() { [ -z "$(squeue --noheader --jobs="$1" 2>/dev/null)" ]; } # JOB
ranks_run_on_node02() { until [ "$(on node02 distrun-rank | wc -l)" -ge "$1" ]; do sleep 0.05; done; } # HOW_MANY
head_slurm() {
  local job limited
  # A job whose time is too short, beside all others.
  mkdir limited
  limited=$(sbatch --parsable --nodes=2 --time=1 --chdir=limited --output=out --wrap \
    "$distrun -w 4 --timeout 300s --filter Hangs.all_sleep --json summary.json $hangs; echo ended \$?")
  ranks_run_on_node02 3
  head_exec_in_slurm
  rm -f out summary.json
  salloc --quiet --nodes=2 "$distrun" -w 4 --json summary.json "$ring" >out 2>&1 || fail "salloc exited with $?"
  ranks_on "node01 node01 node02 node02"
  job=$(sbatch --parsable --nodes=2 --output=out --wrap "exec $distrun -w 4 --json summary.json $ring; echo ended \$?")
  until gone "$job"; do sleep 0.05; done
  says '4 pass'
  ranks_on "node01 node01 node02 node02"
  salloc --quiet --nodes=2 --cpus-per-task=1 "$distrun" -w 2 --jobs auto "$ring" >out 2>&1 ||
    fail "salloc exited with $?"
  says '2 tests in parallel'

  # As the page shows it for Jenkins: sbatch has the exit code of the tests, and the file the results.
  local status=0
  sbatch --quiet --wait --nodes=2 --output=out --wrap \
    "$distrun -w 4 --timeout 1s --filter Hangs.all_sleep --junit tests.xml $hangs" || status=$?
  [ "$status" -eq 1 ] || fail "sbatch --wait exited with $status; expected 1"
  python3 -c 'import xml.etree.ElementTree as xml
assert len(xml.parse("tests.xml").getroot().findall(".//testcase/failure")) == 1' ||
    fail "the results: $(cat tests.xml)"

  # scancel ends a batch job, and one whose distrun runs outside of the nodes, where only these get the signal.
  rm -f out summary.json
  job=$(sbatch --parsable --nodes=2 --output=out --wrap \
    "exec $distrun -w 4 --filter Hangs.all_sleep --json summary.json $hangs")
  ranks_run_on_node02 6
  scancel "$job"
  until gone "$job"; do sleep 0.05; done
  until grep --quiet '^interrupted' out; do sleep 0.05; done
  verdict_is cancelled
  rm -f out summary.json
  salloc --quiet --nodes=2 --job-name=outside "$distrun" -w 4 --timeout 300s --filter Hangs.all_sleep \
    --json summary.json "$hangs" >out 2>&1 &
  run=$!
  ranks_run_on_node02 6
  attaches
  began=$(now_ms)
  scancel --name=outside
  wait "$run" || true
  within 4000 "the run ended after scancel"
  says '^interrupted'
  verdict_is cancelled

  # The job whose time is over by now has said so in time.
  until gone "$limited"; do sleep 0.2; done
  cp limited/* .
  says "^notice: the allocation (Slurm job $limited) ends in 30 s: no further test or attempt begins"
  says "the run was cancelled: the allocation (Slurm job $limited) ends in 10 s"
  says "^problem: run: the allocation (Slurm job $limited) has ended it early; 1 of 1 tests have been run"
  says '^ended 3$'
  verdict_is cancelled
  nothing_left 3000
}

# A host is lost in a running test: the test and the run end at once, and the test that would need it later fails.
is_lost() { # WHY
  until grep --quiet '^infra-error' out; do
    kill -s 0 "$run" || fail "the run has ended without this verdict"
    sleep 0.05
  done
  within 1000 "the loss was noticed"
  ends_with 3
  within 2500 "the run ended"
  says "^infra-error .*node02 was lost: $1"
  says '^2 infra-error'
}
head_lost() {
  begin --hosts node01,node02
  began=$(now_ms)
  # shellcheck disable=SC2046 # words
  kill -s KILL $(on node02 distrun)
  is_lost 'its node ended; ssh'
  # Both processes that clean up are dead.
  nothing_left 2000 no
  cluster-do node02 sh -c 'rm -r /tmp/distrun-*'

  begin --hosts node01,node02
  began=$(now_ms)
  kill -s KILL "$(on node02 distrun | tail -n 1)"
  is_lost 'its node ended; ssh exited with code 3'
  nothing_left 2000

  begin --hosts node01,node02
  began=$(now_ms)
  kill -s KILL "$(on node02 distrun | head -n 1)"
  is_lost 'its node ended; ssh'
  nothing_left 2000

  begin --hosts node01,node02
  began=$(now_ms)
  kill -s KILL "$(pgrep --newest --exact ssh)"
  is_lost 'its node ended; ssh was killed by signal 9 (SIGKILL)'
  nothing_left 2000

  local fault
  for fault in --blackhole --link-down; do
    begin --hosts node01,node02
    began=$(now_ms)
    cluster-do "$fault" node02
    is_lost 'silent for 600.0 ms: its host or the network does not answer'
    nothing_left 2000
    cluster-do --undo node02
  done

  # A guard continues a node that is stopped alone. If both are stopped, no one does.
  local stopped
  begin --hosts node01,node02
  stopped=$(on node02 distrun)
  began=$(now_ms)
  # shellcheck disable=SC2086 # words
  kill -s STOP $stopped
  ends_with 3
  says '^infra-error .*node02 was lost: silent for 5.0 s: its process does not run'
  # shellcheck disable=SC2086 # words
  kill -s CONT $stopped
  nothing_left 2000
}

# The coordinator ends, in all ways.
head_ends() {
  local victim coordinator
  for victim in coordinator guard both; do
    begin --hosts node01,node02
    coordinator=$(pgrep --parent "$run" --oldest)
    case $victim in
      coordinator) kill -s KILL "$coordinator" && ends_with 3 ;;
      guard) kill -s KILL "$run" && ends_with 137 ;;
      both) kill -s KILL "$run" "$coordinator" && ends_with 137 ;;
    esac
    nothing_left 2000
  done
  local signal
  for signal in INT TERM; do
    begin --hosts node01,node02
    began=$(now_ms)
    kill -s "$signal" "$run"
    ends_with 130
    within 2500 "the interrupted run ended"
    says '^interrupted, .*1 cancelled'
    nothing_left 2000
  done
}

# Nodes that do not come, and those that nobody has started.
head_joining() {
  began=$(now_ms)
  run 3 -w 4 --hosts node01,nowhere "$ring"
  within 2500 "a host without an address"
  says '^problem: start: nowhere: ssh exited with code 255 before its node joined: ssh: Could not resolve'
  nothing_left 2000
  began=$(now_ms)
  run 3 -w 4 --hosts node01,node02 --launcher 'ssh -p 9 {host} {node}' "$ring"
  within 2500 "a port without sshd"
  says 'sh exited with code 255 before its node joined: ssh: connect to host node0. port 9: Connection refused'
  run 3 -w 4 --hosts node01,node02,node03 \
    --launcher '[ {host} = node03 ] && { echo no such machine; exit 3; }; ssh {host} {node}' "$ring"
  says '^problem: start: node03: sh exited with code 3 before its node joined: no such machine'
  nothing_left 2000
  began=$(now_ms)
  run 3 -w 4 --hosts node01,node02 --join-timeout 500ms --launcher 'exec sleep 1000; {node}' "$ring"
  within 2500 "nodes that are late"
  says 'node01 did not join within 500.0 ms'

  cluster-do --blackhole node02
  start --hosts node01,node02
  until [ "$(on node01 distrun | wc -l)" -ge 2 ]; do sleep 0.05; done
  began=$(now_ms)
  kill -s INT "$run"
  ends_with 130
  within 1500 "a run that was interrupted while hosts joined"
  says '^interrupted'
  nothing_left 2000
  cluster-do --undo node02

  # A stranger knows where the run listens, but not its secret.
  local place
  begin --hosts node01,node02
  place=$(ps -eo args | sed -n 's/.*--join \([^ ]*\) .*/\1/p' | head -n 1)
  # Its standard input stays open, as that of a node does.
  cluster-do node01 "$distrun" node --join "$place" --host node01 >stranger 2>&1 < <(echo "guess 1" && sleep 1000) &&
    fail "a stranger has joined"
  grep --quiet "does not know this run's secret" stranger || fail "the stranger says: $(cat stranger)"
  kill -s INT "$run"
  ends_with 130
  says '^interrupted, .*1 cancelled'
}

if [ "${1:-}" = --on-head ]; then
  build=$2 distrun=$2/bin/distrun ring=$2/plugins/ring.so hangs=$2/plugins/fixtures/fixture_hangs.so
  "head_$3"
  exit
fi

# ---- On this machine

build=$(cd "$1" && pwd)
why=$("$cluster" --check 2>&1) || skip "$why"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
case ${2:-} in
  slurm)
    needs slurmctld slurmd srun munged
    "$cluster" 2 --slurm --no-ssh -- "$self" --on-head "$build" slurm
    ;;
  ssh | exec | joining)
    needs sshd ssh ssh-keygen
    "$cluster" 3 --no-slurm --ssh -- "$self" --on-head "$build" "$2"
    ;;
  lost | ends)
    needs sshd ssh ssh-keygen
    "$cluster" 2 --no-slurm --ssh -- "$self" --on-head "$build" "$2"
    ;;
  *) echo "usage: hosts.sh BUILD ssh | slurm | exec | lost | ends | joining" >&2 && exit 2 ;;
esac
