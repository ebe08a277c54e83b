// Every public header in one source, except those for other frameworks: they are compatible in any order.
#include "outside.cpp"
#include "outside_collectives.cpp"
#include "outside_dist_autograd.cpp"
#include "outside_profiler.cpp"
#include "outside_rpc.cpp"
#include "outside_runtime.cpp"
#include "outside_test.cpp"
