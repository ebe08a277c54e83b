/* The C interface between distrun-rank and a plugin. Plain C11; no C++ crosses it.
 *
 * A plugin is a shared object that exports one symbol, distrun_plugin_entry. The loading program calls it once, and
 * then either lists the tests or runs one of them, once, in one process per rank.
 *
 * Conventions
 *  - Every struct that crosses begins with its size and the ABI it was built for. New fields are
 *    added at the end only; check `size` before reading a later field. Both sides refuse another
 *    DISTRUN_ABI with a clear message.
 *  - A string is pointer and length, UTF-8, not terminated; NULL with 0 is empty. Strings belong to
 *    the side that created them and are valid until the call returns; copy them to keep them.
 *    Strings of distrun_rank itself are valid until run() returns.
 *  - No function throws or longjmps across the interface. int32_t results are DISTRUN_OK or an error
 *    below.
 *  - Functions of distrun_rank may be called from any thread; those of distrun_list only during
 *    list().
 *  - A plugin is loaded with RTLD_NOW | RTLD_LOCAL and never unloaded.
 *
 * With CMake, use find_package(distrun) and distrun_add_plugin(ring ring.cpp). Without:
 *   c++ -std=c++20 -shared -fPIC ring.cpp $(pkg-config --cflags --libs distrun) -o ring.so
 */
#ifndef DISTRUN_SDK_PLUGIN_H
#define DISTRUN_SDK_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DISTRUN_ABI 1u
/* The version of the runtime, libdistrun.so.1; plugins that use it store it in distrun_plugin.runtime. */
#define DISTRUN_RUNTIME 1u

typedef struct distrun_string {
  const char* data;
  size_t size;
} distrun_string;

enum {
  DISTRUN_OK = 0,
  DISTRUN_NOT_FOUND = 1, /* no test, setting or plugin part of that name */
  DISTRUN_FAILED = 2,    /* the test failed on this rank; its errors were reported */
  DISTRUN_SKIPPED = 3,   /* the test skipped on this rank; its reason was reported */
  DISTRUN_TIMEOUT = 4,
  DISTRUN_PEER_FAILED = 5,  /* another rank failed, so the wait cannot succeed */
  DISTRUN_INVALID = 6,      /* an argument is out of range */
  DISTRUN_INCOMPATIBLE = 7, /* another ABI */
  DISTRUN_DISCONNECTED = 8  /* the coordinator is gone */
};

enum { DISTRUN_WORLD_ANY = 0, DISTRUN_WORLD_FIXED = 1, DISTRUN_WORLD_ANY_OF = 2, DISTRUN_WORLD_GPUS = 3 };
enum {
  DISTRUN_RUNS_ONCE = 0,
  DISTRUN_RUNS_AGAIN = 1,   /* one test after the other */
  DISTRUN_RUNS_TOGETHER = 2 /* also on several threads at once, one per rank */
};
enum { DISTRUN_DEATH_ANY = 0, DISTRUN_DEATH_SIGNAL = 1, DISTRUN_DEATH_EXIT = 2 };
enum {
  DISTRUN_PEERS_NONE = 0, /* the wait is not for ranks */
  DISTRUN_PEERS_ALL = 1,  /* all of them must arrive */
  DISTRUN_PEERS_ANY = 2   /* one of them is enough */
};
enum { DISTRUN_PHASE_SET_UP = 3, DISTRUN_PHASE_BODY = 4, DISTRUN_PHASE_TEAR_DOWN = 5 };

typedef struct distrun_key_value {
  distrun_string key;
  distrun_string value;
} distrun_key_value;

/* A death that the test causes on purpose; rank -1 is any rank. */
typedef struct distrun_may_die {
  int32_t rank;
  int32_t how;   /* DISTRUN_DEATH_... */
  int32_t value; /* signal or exit code */
} distrun_may_die;

/* One test. If `skip_reason` has data, the test is not run. */
typedef struct distrun_test {
  uint32_t size;
  uint32_t abi;
  distrun_string suite;
  distrun_string name;
  const distrun_key_value* parameters;
  size_t parameter_count;
  distrun_string file;
  uint32_t line;
  int32_t world_rule;
  const int32_t* world_sizes; /* the n of fixed, the list of any_of */
  size_t world_size_count;
  int32_t world_size;       /* the result of the rule in this run; 0: none, skipped */
  int64_t timeout_ms;       /* of the body; 0: the run's default */
  distrun_string isolation; /* "process", "exec", or empty for any */
  int32_t env_rendezvous;   /* not 0: needs RANK, LOCAL_RANK and MASTER_PORT */
  int32_t has_fixture;      /* not 0: user code runs in the phases set-up and tear-down */
  const distrun_may_die* may_die;
  size_t may_die_count;
  int32_t skip_code; /* of the skip table; 86 is the generic one */
  distrun_string skip_reason;
  /* Later fields: check `size`. */
  int32_t devices;            /* number used; tests that use any do not run at the same time */
  distrun_string description; /* for users; empty: same as the id */
  int32_t has_host;           /* not 0: the suite has code for its host; the same in all of its tests */
  int32_t has_suite_code;     /* not 0: the suite has code for its ranks, around the tests */
  int32_t gpu_per_rank;       /* not 0: each rank sees one separate device */
  const distrun_string* tags; /* for filters */
  size_t tag_count;
  const distrun_string* locks; /* tests with a common one never run at the same time */
  size_t lock_count;
  int32_t needs_mpi; /* not 0: the ranks can call MPI_Init, and are one world */
} distrun_test;

/* Passed to list(): the run's settings, and the receiver of the tests. */
typedef struct distrun_list {
  uint32_t size;
  uint32_t abi;
  void* self;
  int32_t world_size; /* of tests with the rule "any" */
  int32_t gpus;
  distrun_string backend;
  distrun_string agent;
  distrun_string gpu_driver;
  distrun_string isolation;
  void (*add)(void* self, const distrun_test* test);
  /* Reports wrong declarations, one line per finding: "ring.cpp:7: Ring.starts: ...". Called at most once; then
   * list() adds nothing and returns DISTRUN_INVALID. */
  void (*fail)(void* self, distrun_string text);
  /* Later field: check `size`. */
  distrun_string why_no_gpu; /* "this machine has no NVIDIA device"; empty: there are some */
} distrun_list;

typedef struct distrun_error {
  uint32_t size;
  uint32_t abi;
  distrun_string type; /* "CheckFailed", "ValueError", a C++ type */
  distrun_string text;
  distrun_string file;
  uint32_t line;
  int32_t ends_body;  /* 0 for a failed EXPECT */
  int32_t because_of; /* the rank that caused this error, or -1 */
  /* Later fields: check `size`. */
  /* The calling thread's stack at the throw: addresses, innermost first, each inside the call instruction; a 0 after
   * the first marks omitted frames. At most 128 are read. */
  const uint64_t* pcs;
  size_t pc_count;
} distrun_error;

/* Receives bytes that are valid until it returns. */
typedef void (*distrun_sink)(void* context, const void* data, size_t size);

/* A wait of one thread, as others see it. Kinds are those of common/board/layout.hpp, times of the monotonic clock. */
typedef struct distrun_wait {
  uint32_t size;
  uint32_t abi;
  int32_t kind;
  int32_t peer_rule; /* DISTRUN_PEERS_... */
  distrun_string name;
  const uint64_t* peers; /* rank r is bit r % 64 of word r / 64; at most 256 ranks are shown */
  size_t peer_words;
  uint64_t id;         /* of a message or a call, depending on the kind */
  int64_t deadline_ns; /* 0: none */
  const char* file;    /* source file of the wait, terminated; the end of a long path is shown */
  uint32_t line;
  /* Set in snapshots of a peer; ignored when a wait begins. */
  int32_t in_body; /* not 0: of the thread that runs the test's body */
  int64_t since_ns;
} distrun_wait;

/* Something that a rank has done or begun. */
typedef struct distrun_operation {
  uint32_t size;
  uint32_t abi;
  int32_t kind;
  int32_t peer; /* -1: none */
  distrun_string name;
  uint64_t id;
  uint64_t number; /* counts from 1; set in snapshots of a peer, like at_ns */
  int64_t at_ns;
} distrun_operation;

/* A snapshot of another rank. */
typedef struct distrun_peer {
  uint32_t size;
  uint32_t abi;
  int32_t pid;
  int32_t phase;
  uint64_t epoch;            /* grows with the rank's progress */
  const distrun_wait* waits; /* the longest first */
  size_t wait_count;
  const distrun_operation* operations; /* recent ones, the oldest first */
  size_t operation_count;
} distrun_peer;

/* Passed to run(): the rank, its settings, and its access to the coordinator.
 *
 * The host of a suite gets one too: there `rank` is -1, world_size is that of --world-size, temp_dir is suite_dir,
 * and barrier, send and receive have no peers. */
typedef struct distrun_rank {
  uint32_t size;
  uint32_t abi;
  void* self;
  int32_t rank;
  int32_t world_size;
  int32_t attempt;
  int32_t gpus;
  uint64_t seed; /* of the run; the same on all ranks */
  distrun_string run_id;
  distrun_string test_id;
  distrun_string worker_name; /* "worker2" */
  distrun_string work_dir;    /* of this rank; removed after the attempt */
  distrun_string temp_dir;    /* shared by the attempt's ranks; removed after it */
  distrun_string backend;
  distrun_string agent;
  distrun_string gpu_driver;
  distrun_string init_method; /* a rendezvous URL */

  void (*phase)(void* self, int32_t phase);
  void (*error)(void* self, const distrun_error* error);
  void (*skip)(void* self, int32_t code, distrun_string reason);
  void (*note)(void* self, distrun_string key, distrun_string value);
  void (*checks)(void* self, uint64_t count); /* adds to the rank's number of checks */
  /* Blocks until every living rank is in the barrier of that name. timeout_ms < 0: no separate timeout. On
   * DISTRUN_PEER_FAILED and DISTRUN_TIMEOUT, `why` gets the text and *because_of the rank, or -1. */
  int32_t (*barrier)(void* self, distrun_string name, int64_t timeout_ms, distrun_sink why, void* context,
                     int32_t* because_of);
  /* Sends at most 16 MiB to a rank (or to itself), in order per sender and tag. Does not wait for a receiver. */
  int32_t (*send)(void* self, int32_t to, distrun_string tag, const void* data, size_t size);
  /* Blocks until a message with that tag arrives, from a rank or from any (-1); *from gets the sender. `message`
   * gets the bytes on DISTRUN_OK, else `why` the text, as with barrier. */
  int32_t (*receive)(void* self, int32_t* from, distrun_string tag, int64_t timeout_ms, distrun_sink message,
                     distrun_sink why, void* context, int32_t* because_of);
  /* Sets the source location of the calling thread's next barrier or receive, to be shown if the rank hangs. `file`
   * is not copied and must stay valid. Check `size`. */
  void (*site)(void* self, const char* file, uint32_t line);
  int32_t shares_process; /* not 0: the world's other ranks are threads of this process */
  /* Later fields: check `size`. */
  distrun_string suite_dir; /* shared by a suite's host and ranks, removed after its last test; empty: no host */
  const distrun_key_value* settings; /* set by the suite's host */
  size_t setting_count;
  /* Only in the host, before set_up_host() returns: sets a value of `settings` of the suite's ranks; an existing key
   * gets the new value. DISTRUN_INVALID: not the host, or over 1000 keys or 1 MiB of keys and values. */
  int32_t (*set)(void* self, distrun_string key, distrun_string value);
  /* Later fields, for a runtime within the plugin: check `size`. */
  /* Shows that the calling thread waits, until wait_end() with the result of wait_begin(). `waits` and both
   * functions are valid until the process ends, across tests. Kinds are those of common/board/layout.hpp; `file` is
   * not copied. Neither blocks or allocates. */
  void* waits;
  int32_t (*wait_begin)(void* waits, int32_t kind, distrun_string name, const char* file, uint32_t line);
  void (*wait_end)(void* waits, int32_t number);
  /* Sets a function that the signal handler calls if the process crashes at an address, to describe it: it writes at
   * most `size` characters ("device memory of cuda:0"), and returns their number, 0 if unknown. */
  void (*explain_faults)(void* self, size_t (*explain)(const void* address, char* text, size_t size));
  /* Later fields: check `size`. */
  /* Binds the calling thread to this rank until unbind() with the result of bind(). This identifies the rank of a
   * thread that ends a process shared by several ranks. An unbound thread belongs to its creator's rank, if its name
   * shows that. */
  int32_t (*bind)(void* self);
  void (*unbind)(int32_t before);
  /* Later fields, waits for other ranks: check `size`. Functions that take `waits` are valid as long as it is. */
  /* Like wait_begin(), with the peers and the deadline. */
  int32_t (*wait_begin_for)(void* waits, const distrun_wait* wait);
  /* Shows what the rank has done or begun, and that it makes progress of any kind. Neither blocks or allocates. */
  void (*did)(void* waits, const distrun_operation* operation);
  void (*progress)(void* waits);
  /* Calls `shown` once with a snapshot of another rank, for a rank that waits too long and asks what its peers do.
   * DISTRUN_NOT_FOUND: there is no such rank, or it shows nothing yet. */
  int32_t (*look_at_peer)(void* waits, int32_t rank, void (*shown)(void* context, const distrun_peer* peer),
                          void* context);
  /* Sets a function that is called when another rank fails in this test, until the next call (NULL: none). `why` and
   * because_of are as for barrier and receive in that case. It runs on a thread that must continue, so it must not
   * block. Called at most once, and at once if a rank has failed already. When this returns, no call is running any
   * more. */
  void (*on_peer_failed)(void* self, void (*failed)(void* context, int32_t because_of, distrun_string why),
                         void* context);
  /* Later fields: check `size`. */
  /* Like on_peer_failed, for ranks that die as the test has declared: `died` is called for each, including those
   * already dead. This is not a failure, but a wait for such a rank never ends. */
  void (*on_peer_died)(void* self, void (*died)(void* context, int32_t rank), void* context);
  /* Shows an error that the test's code has not read yet, to explain why the rank hangs, until error_hide() with the
   * returned number. Neither blocks or allocates; valid as long as `waits`. */
  int32_t (*error_show)(void* waits, distrun_string text);
  void (*error_hide)(void* waits, int32_t number);
  /* Later fields: check `size`. */
  /* Reports code of the test, named by `what`, that still runs after the test. This is a note, and with --leaks
   * strict a leak; no other test runs in this process. Called before run() returns. */
  void (*runs_on)(void* self, distrun_string what);
  /* Later fields: check `size`. */
  /* Adds a measured value to the report; `value` is finite, `unit` may be empty. */
  void (*measure)(void* self, distrun_string name, double value, distrun_string unit);
} distrun_rank;

/* Filled by the plugin. `self` is passed back as the first argument of each call. */
typedef struct distrun_plugin {
  uint32_t size;
  uint32_t abi;
  void* self;
  uint32_t runtime; /* required version of libdistrun; 0: none */
  /* Lists every test through list->add, in order of declaration, or reports to list->fail why not. */
  int32_t (*list)(void* self, const distrun_list* list);
  /* Runs the test with that id on this rank: DISTRUN_OK, _FAILED, _SKIPPED or _NOT_FOUND. At most once per process,
   * unless `reuse` allows more. */
  int32_t (*run)(void* self, distrun_string test_id, const distrun_rank* rank);
  /* DISTRUN_RUNS_...: how many times run() may be called. If an isolation (pool, threads) needs more, tests are
   * skipped. */
  int32_t reuse;
  /* Later fields: check `size`; NULL: nothing to do. Results as of run(). */
  /* This rank gets no further test; called on the thread that ran its tests. DISTRUN_OK or _FAILED. */
  int32_t (*leave)(void* self, const distrun_rank* rank);
  /* In a suite's host: before the suite's first test has any rank, and after its last. The same process. */
  int32_t (*set_up_host)(void* self, distrun_string suite, const distrun_rank* host);
  int32_t (*tear_down_host)(void* self, distrun_string suite, const distrun_rank* host);
} distrun_plugin;

/* The loading program. */
typedef struct distrun_loader {
  uint32_t size;
  uint32_t abi;
} distrun_loader;

/* The one exported symbol. The caller has set plugin->size and plugin->abi to its own; the plugin returns
 * DISTRUN_INCOMPATIBLE (having set plugin->abi to its own) if it cannot serve that loader. */
typedef int32_t (*distrun_plugin_entry_t)(const distrun_loader* loader, distrun_plugin* plugin);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int32_t
distrun_plugin_entry(const distrun_loader* loader, distrun_plugin* plugin);

#ifdef __cplusplus
}
#endif
#endif
