# A run as metrics in Prometheus' text format, for the textfile collector of node_exporter. Input is summary.json:
#   jq -r --arg pipeline nightly -f prometheus.jq summary.json
# Every metric has the label `pipeline`, so that runs of several pipelines can be kept side by side.

# Escapes the value of a label.
def escaped:
  split("\\") | join("\\\\") | split("\"") | join("\\\"") | split("\n") | join("\\n") | gsub("[[:cntrl:]]"; " ");

def labels: "{" + ([to_entries[] | "\(.key)=\"\(.value | tostring | escaped)\""] | join(",")) + "}";

# `samples` are pairs of labels and value.
def metric($name; $help; samples):
  {pipeline: ($ARGS.named.pipeline // "default")} as $common
  | "# HELP \($name) \($help)", "# TYPE \($name) gauge",
    (samples | $name + ($common + .[0] | labels) + " \(.[1])");

def of_test: {plugin, suite, test: .id, world_size};
def is_good: IN("pass", "skip", "flaky");

metric("distrun_run_start_time_seconds"; "When the run began, in seconds since 1970.";
       [{}, (.started | sub("\\.[0-9]+Z$"; "Z") | fromdate)]),
metric("distrun_run_duration_seconds"; "How long the run took."; [{}, .duration_ms / 1000]),
metric("distrun_run_exit_code"; "What distrun returned: 0 is good."; [{}, .exit_code]),
metric("distrun_run_info"; "What was run with, as labels; always 1.";
       [(.settings | {world_size, backend, agent, gpu_driver, isolation}) + {host: .machine.hostname}, 1]),
metric("distrun_problems"; "What kept tests from running, such as a plugin that cannot be loaded.";
       [{}, (.problems | length)]),
metric("distrun_tests"; "Tests by verdict."; .totals | to_entries[] | [{verdict: .key}, .value]),
metric("distrun_test_failed"; "1 if the test did not pass; flaky and skipped tests did not fail.";
       .tests[] | [of_test, (if .verdict | is_good then 0 else 1 end)]),
metric("distrun_test_duration_seconds"; "How long the test took, over all its attempts.";
       .tests[] | [of_test, .duration_ms / 1000]),
metric("distrun_test_attempts"; "How often the test was tried."; .tests[] | [of_test, (.attempts | length)]),
metric("distrun_test_leaks"; "What the test has left behind."; .tests[] | [of_test, ([.attempts[].leaks[]] | length)]),
metric("distrun_rank_culprit_attempts"; "Failed attempts of which this rank was a culprit.";
       [.tests[].attempts[].culprits[]] | group_by(.)[] | [{rank: .[0]}, length])
