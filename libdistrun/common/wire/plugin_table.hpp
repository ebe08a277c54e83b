#pragma once
// The lister's report of a plugin: its tests and their requirements, as data. The lister makes every decision that is
// possible before a process is forked (world size, skip reasons).
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/wire/codec.hpp>
#include <distrun/common/wire/control.hpp>

namespace distrun::wire {

inline constexpr std::size_t kTestsMax = 1'000'000;  // per plugin
inline constexpr std::int32_t kWorldSizeMax = 1024;
inline constexpr std::size_t kNameSizeMax = 1024;  // of a suite, a test, a key or a value
inline constexpr std::size_t kDescriptionSizeMax = 8192;

// The settings of the run that skip conditions can use.
struct ListOrder {
  std::int32_t world_size = 4;
  std::string backend;
  std::string agent;
  std::string gpu_driver;
  std::int32_t gpus = 0;
  std::string isolation;
  std::string why_no_gpu;  // empty: there are some
};
DISTRUN_FIELDS(ListOrder, m.world_size, m.backend, m.agent, m.gpu_driver, m.gpus, m.isolation, m.why_no_gpu)

enum class WorldRule : std::uint8_t { Any, Fixed, AnyOf, Gpus };
const char* name_of(WorldRule rule) noexcept;  // "any", "fixed", "any_of", "gpus"

enum class DeathKind : std::uint8_t { Any, Signal, ExitCode };

// A death that the test causes on purpose.
struct MayDie {
  std::int32_t rank = -1;  // -1: any rank
  DeathKind how = DeathKind::Any;
  std::int32_t value = 0;  // the signal or the exit code
  friend bool operator==(const MayDie&, const MayDie&) = default;
};
DISTRUN_FIELDS(MayDie, m.rank, m.how, m.value)

struct TestInfo {
  std::string suite;
  std::string name;
  std::vector<KeyValue> parameters;  // in order of declaration
  std::string file;
  std::uint32_t line = 0;
  WorldRule world_rule = WorldRule::Any;
  std::vector<std::int32_t> world_sizes;  // the n of fixed, the list of any_of
  std::int32_t world_size = 0;            // the result of the rule with this run's settings; 0: skipped
  std::int64_t timeout_ms = 0;            // of the body; 0: the run's default
  std::string isolation;                  // required by the test; empty: any
  bool env_rendezvous = false;            // needs RANK, LOCAL_RANK and MASTER_PORT
  bool has_fixture = false;               // its set-up and tear-down phases run user code
  bool has_host = false;                  // its suite has code for a host
  bool has_suite_code = false;            // its suite has code around the tests, for its ranks
  bool gpu_per_rank = false;              // each rank sees one separate device
  bool needs_mpi = false;                 // its ranks are one world of MPI
  std::vector<MayDie> may_die;
  std::vector<SkipReport> skip;  // at most one: why it does not run
  std::int32_t devices = 0;      // number of devices that it uses
  std::string description;       // for users: the name in another framework; empty: same as the id

  std::vector<std::string> tags;   // sorted, each once
  std::vector<std::string> locks;  // the same; tests with a common lock never run at the same time

  // Set by the run, not by the plugin: the test runs with several world sizes, so the size is a part of its id.
  bool has_size_in_id = false;

  // Returns "Suite.name/key=value,...", and " [np=4]" after it if has_size_in_id.
  std::string id() const;
  // Returns the id without the world size: the plugin and filters know the test by it.
  std::string id_in_plugin() const;
};
DISTRUN_FIELDS(TestInfo, m.suite, m.name, m.parameters, m.file, m.line, m.world_rule, m.world_sizes, m.world_size,
               m.timeout_ms, m.isolation, m.env_rendezvous, m.has_fixture, m.may_die, m.skip, m.devices, m.description,
               m.has_host, m.has_suite_code, m.gpu_per_rank, m.tags, m.locks, m.needs_mpi)

// How many tests a plugin can run in one process.
enum class Reuse : std::uint8_t {
  Once,
  Again,     // one after the other
  Together,  // also on several threads at once, one per rank
};

struct PluginTable {
  std::vector<TestInfo> tests;
  Reuse reuse = Reuse::Once;
  bool uses_backend = false;  // it calls process groups
  bool uses_agent = false;    // it calls RPC, or what is built on it
};
DISTRUN_FIELDS(PluginTable, m.tests, m.reuse, m.uses_backend, m.uses_agent)

// Reads what a lister sent; it is untrusted. Throws Error{InvalidArgument} that names the test and the field: a
// truncated table, an empty or overlong name, two tests with one id, a world size outside 0..kWorldSizeMax, an unknown
// rule, a negative timeout.
PluginTable read_plugin_table(BytesView bytes);

}  // namespace distrun::wire
