# Tests that did not simply pass, one per line: verdict, test, cause. Input is summary.json:
#   jq -rf failures.jq summary.json
.tests[]
| select(.verdict | IN("pass", "skip") | not)
| "\(.verdict)  \(.id)  \(.message)" | gsub("[[:cntrl:]]"; " ")
