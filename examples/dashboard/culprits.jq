# How many times each rank was the culprit, over any number of runs: a bad device or cable shows as one rank.
#   jq -rsf culprits.jq */summary.json
[.[].tests[] | .id as $id | .attempts[].culprits[] | {rank: ., id: $id}]
| group_by(.rank)
| map({rank: .[0].rank, count: length, tests: (map(.id) | unique)})
| sort_by(-.count)[]
| "rank \(.rank): \(.count) of the failed attempts, in \(.tests | join(", "))" | gsub("[[:cntrl:]]"; "?")
