// Every front door in one source, but for those to other frameworks: they go together, in any order.
#include "outside.cpp"
#include "outside_collectives.cpp"
#include "outside_dist_autograd.cpp"
#include "outside_profiler.cpp"
#include "outside_rpc.cpp"
#include "outside_runtime.cpp"
#include "outside_test.cpp"
