#pragma once
// Static probes (USDT), for bpftrace, perf and gdb: DISTRUN_PROBE(name, arguments...) is a no-operation in the code and
// a note in the file, until a tool watches it. Arguments are integers and pointers to texts, and are always evaluated:
// have them at hand. A build without <sys/sdt.h> (Debian: systemtap-sdt-dev) has no probes; otherwise a library that
// has some calls distrun_use_probes() in its CMake file.
#ifdef DISTRUN_HAS_SDT
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
#define DISTRUN_PROBE(name, ...) STAP_PROBEV(distrun, name, __VA_ARGS__)
#else
#define DISTRUN_PROBE(name, ...) static_cast<void>(0)
#endif
