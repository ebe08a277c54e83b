#!/usr/bin/env bash
# What the page of the command line shows for ReFrame fits what distrun prints: the pattern of its performance variable
# finds the value that ranks have measured, and the class has no mistake that Python sees.
#
# usage: ci_page.sh PAGE DISTRUN MEASURED.so
set -euo pipefail
page=$(readlink -f "$1") distrun=$(readlink -f "$2") plugin=$(readlink -f "$3")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$distrun" --history off --filter Measured.values "$plugin" >out
python3 - "$page" <<'PYTHON'
import re
import sys

page = open(sys.argv[1]).read()
[code] = [block for block in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S) if "rfm.simple_test" in block]
compile(code, sys.argv[1], "exec")
[pattern] = re.findall(r"extractsingle\(r'(.*?)', self.stdout, 1, float\)", code)
printed = open("out").read()
# As ReFrame does: all lines, and the first match counts.
found = [float(match[1]) for match in re.finditer(pattern, printed, re.MULTILINE)]
if found != [11.0]:  # the median of 10, 11 and 12
    sys.exit(f"{sys.argv[1]}: the pattern {pattern} finds {found} instead of [11.0] in:\n{printed}")
single = re.search(pattern.replace("bandwidth", "latency").replace("GB/s", "us"), printed, re.MULTILINE)
if not single or float(single[1]) != 8.5:
    sys.exit(f"{sys.argv[1]}: the pattern does not find a single value in:\n{printed}")
PYTHON
