# What did not simply pass, a line each: verdict, test, cause. Of summary.json:
#   jq -rf failures.jq summary.json
.tests[]
| select(.verdict | IN("pass", "skip") | not)
| "\(.verdict)  \(.id)  \(.message)" | gsub("[[:cntrl:]]"; " ")
