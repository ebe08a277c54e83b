#!/usr/bin/env bash
# scripts/cluster imitates hosts: what runs on them, what can be done to them, and that nothing is left of them.
#
# usage: cluster.sh hosts | ssh | slurm
# Exit status: 77 if this machine cannot imitate hosts, or lacks the programs, which it says.
set -euo pipefail
cluster=$(cd "$(dirname "$0")/../../scripts" && pwd)/cluster
export PATH=$PATH:/usr/sbin:/sbin

skip() {
  echo "skipped: $*"
  exit 77
}
needs() {
  local program
  [ "$EUID" -eq 0 ] || skip "this needs root"
  for program in "$@"; do
    command -v "$program" >/dev/null || skip "there is no $program; scripts/setup --cluster installs it"
  done
}
why=$("$cluster" --check 2>&1) || skip "$why"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
started() { [ -e "$folder/started" ]; }

# expect STATUS OUTPUT COMMAND...: the command's exit status and what it prints.
expect() {
  local wanted=$1 output=$2 printed status=0
  shift 2
  printed=$("$@" 2>error) || status=$?
  if [ "$status" -ne "$wanted" ] || [ "$printed" != "$output" ]; then
    echo "$* exited with $status and printed '$printed'; expected $wanted and '$output'. On stderr:"
    cat error
    exit 1
  fi
}
in_time() { # TEXT COMMAND...
  local text=$1 end=$((SECONDS + 30))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || { echo "not within 30 s: $text" && exit 1; }
    sleep 0.05
  done
}
nothing_left() { ! grep --quiet --null-data "^MARK_OF_TEST=$folder$" /proc/[0-9]*/environ 2>/dev/null; }

# ends_all SIGNAL OPTION... -- COMMAND...: sends the signal to a cluster that runs COMMAND, which creates `started`.
ends_all() {
  local signal=$1 status=0 pid
  shift
  rm -f started
  MARK_OF_TEST=$folder "$cluster" 2 "$@" 2>error &
  pid=$!
  in_time "the cluster has started" started
  kill -s "$signal" "$pid"
  wait "$pid" 2>/dev/null || status=$?
  [ "$status" -eq $((128 + $(kill -l "$signal"))) ] || { echo "after SIG$signal: exit status $status" && exit 1; }
  in_time "after SIG$signal no process of the cluster is left" nothing_left
}

plain() {
  local none=(--no-slurm --no-ssh --)
  # shellcheck disable=SC2016 # the inner shell expands it
  expect 7 $'text\nnode02 10.77.1.2' "$cluster" 2 "${none[@]}" bash -c '
    cluster-do node02 cat <<<text
    echo "$(cluster-do node02 hostname) $(cluster-do node02 getent hosts node01 | cut -d" " -f1)"
    exit 7'
  # The current directory is in /tmp, of which the hosts see nothing else.
  touch ../not-shared."${folder##*/}"
  expect 0 "${folder##*/}" "$cluster" 1 "${none[@]}" cluster-do node01 ls /tmp
  rm ../not-shared."${folder##*/}"
  expect 137 '' "$cluster" 1 "${none[@]}" sh -c 'kill -s KILL $$'
  expect 2 '' "$cluster" 0 -- true
  expect 2 '' "$cluster" 2
  # shellcheck disable=SC2016 # the inner shell expands it
  expect 0 $'refused 1\nno route 1\nsilent 124\nrefused 1\nkilled 137' "$cluster" 2 "${none[@]}" bash -c '
    try() { timeout "${2:-20}" cluster-do node01 bash -c ": </dev/tcp/node02/9" 2>error || echo "$1 $?"; }
    try refused; grep -q "refused" error
    cluster-do --link-down node02; try "no route"; grep -q "No route" error; cluster-do --link-up node02
    cluster-do --blackhole node02; try silent 0.3; cluster-do --undo node02; try refused
    cluster-do node02 sleep 1000 & sleeping=$!
    until cluster-do --pids node02 | grep -q " sleep$"; do sleep 0.01; done
    cluster-do --kill node02
    wait $sleeping 2>/dev/null || echo "killed $?"'
  ends_all KILL "${none[@]}" sh -c 'cluster-do node01 setsid sleep 1000 & touch started; wait'
  ends_all TERM "${none[@]}" sh -c 'cluster-do node01 setsid sleep 1000 & touch started; exec sleep 1000'
}

with_ssh() {
  needs sshd ssh ssh-keygen
  # shellcheck disable=SC2016 # the inner shell expands it
  expect 0 $'node02\ntext\n7\nnode01 from node02' "$cluster" 2 --no-slurm --ssh -- bash -c '
    ssh node02 hostname
    ssh node01 cat <<<text
    ssh node02 exit 7 || echo $?
    ssh node02 "echo \$(ssh node01 hostname) from \$(hostname)"'
  ends_all KILL --no-slurm --ssh -- sh -c 'ssh node01 sleep 1000 & touch started; wait'
}

with_slurm() {
  needs slurmctld slurmd srun munged
  # shellcheck disable=SC2016 # the inner shell expands it
  expect 0 $'node01\nnode02\nbatch node[01-02]\ncancelled' "$cluster" 2 --slurm --no-ssh -- bash -c '
    srun --nodes=2 --ntasks=2 hostname | sort
    sbatch --quiet --nodes=2 --output=batch.txt --wrap "echo batch \$SLURM_JOB_NODELIST"
    until [ -s batch.txt ]; do sleep 0.05; done # sbatch --wait would look every few seconds
    cat batch.txt
    job=$(sbatch --parsable --nodes=1 --output=/dev/null --wrap "sleep 1000")
    until squeue --noheader --states=running | grep -q .; do sleep 0.05; done
    scancel "$job"
    until [ -z "$(squeue --noheader)" ]; do sleep 0.05; done
    echo cancelled'
}

case ${1:-} in
  hosts) plain ;;
  ssh) with_ssh ;;
  slurm) with_slurm ;;
  *) echo "usage: cluster.sh hosts | ssh | slurm" >&2 && exit 2 ;;
esac
