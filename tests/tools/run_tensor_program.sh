#!/usr/bin/env bash
# run_tensor_program.sh PROGRAM: checks the results of a program with views, in-place changes, a sparse tensor, an error
# and gradients, on the CPU and on a virtual GPU.
set -euo pipefail

program=$1
lines='begin
a = input float32 [2,3] [1,2] 1 leaf 9 1 2 3 4 5 6.5
b = mul a 2
c = split b 1
c.1 = add_ c.1 0.5
d = sum b [0]
e = mul b unknown
i = input int64 [1,3] [3,1] 0 - 3 1 3
s = sparse_coo i d [4]
f = to_dense s
recording off
n = select a 1 -1
recording on
show
backward b:1 f:3'
answers='.
a float32 [2,3] strided grad : 1 3 5 2 4 6.5
.
b float32 [2,3] strided grad : 2 6 10 4 8 13
.
c.0 float32 [1,3] strided grad : 2 6 10
c.1 float32 [1,3] strided grad : 4 8 13
.
c.1 float32 [1,3] strided grad : 4.5 8.5 13.5
.
d float32 [3] strided grad : 6.5 14.5 23.5
.
! nothing has the name unknown
.
i int64 [1,3] strided - : 3 1 3
.
s float32 [4] sparse/1/3 grad : 0 14.5 0 30
.
f float32 [4] strided grad : 0 14.5 0 30
.
.
n float32 [2] strided - : 5 6.5
.
.
a float32 [2,3] strided grad : 1 3 5 2 4 6.5
b float32 [2,3] strided grad : 2 6 10 4.5 8.5 13.5
c.0 float32 [1,3] strided grad : 2 6 10
c.1 float32 [1,3] strided grad : 4.5 8.5 13.5
d float32 [3] strided grad : 6.5 14.5 23.5
f float32 [4] strided grad : 0 14.5 0 30
i int64 [1,3] strided - : 3 1 3
n float32 [2] strided - : 5 6.5
s float32 [4] sparse/1/3 grad : 0 14.5 0 30
.
a float32 [2,3] strided - : -1 2 -1.5 1 4 0.5
.'
for device in cpu virtual; do
  "$program" "$device" <<<"$lines" | diff - <(printf '%s\n' "$answers")
done
