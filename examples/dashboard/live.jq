# A running run: a line for each notable event. Input is the event stream:
#   distrun --events >(jq --unbuffered -rf live.jq) ...
def one_line: gsub("[[:space:]]+"; " ") | gsub("[[:cntrl:]]"; "?");

if .kind == "run_start" then "\(.tests) tests"
elif .kind == "error" and .because_of == null then "  rank \(.rank): \(.type): \(.text | one_line)"
elif .kind == "problem" then "problem: \(.text | one_line)"
elif .kind == "snapshot" then "  stacks were taken (\(.why))"
elif .kind == "attempt_end" and .verdict != "pass" then "  attempt \(.attempt): \(.verdict)"
elif .kind == "test_end" then "\(.verdict)  \(.test)"
elif .kind == "run_end" then
  [.totals | to_entries[] | select(.value > 0) | "\(.value) \(.key)"] | "done: " + join(", ")
else empty end
