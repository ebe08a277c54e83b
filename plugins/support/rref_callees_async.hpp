#pragma once
// Functions and classes of ported tests of references: slow, failing and asynchronous ones; and waits without a future.
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <distrun/runtime/rref/rref.hpp>

namespace distrun::suites {

// Access a reference that the rank keeps for other ranks.
void set_global_rref(RRef<rpc::Value> rref);
void clear_global_rref();

bool check_rref_confirmed(RRef<Tensor> rref);
Tensor raise_or_inc(Tensor value);                         // a ValueError for two elements, otherwise plus one
Tensor slow_product(double seconds);                       // 1 * 1, after `seconds`
std::map<std::string, std::string> get_rref_debug_info();  // of the called rank

// Wait until no message about the rank's references is in flight; and until `worker` owns `owners` references with
// `forks` forks on other workers. After `timeout` seconds they throw Error{Timeout, "ValueError"}: "Timed out waiting
// ...", with the current state.
void wait_until_references_settle(double timeout = 20);
void wait_until_owners_and_forks(const std::string& worker, int owners, int forks, double timeout = 20);
// Returns num_owner_rrefs and num_forks of the called rank.
std::pair<std::string, std::string> get_num_owners_and_forks();

// Takes two seconds to construct if `delay`; its slow method takes five.
class SlowClass {
 public:
  explicit SlowClass(Tensor tensor, bool delay = false);
  Tensor my_instance_method(Tensor b) const;  // a + b
  Tensor my_slow_method(Tensor b) const;

  Tensor a;
};

// Its methods are called through references and return x + y + z; `to` computes the first sum.
class AsyncTensorClass {
 public:
  static Future<Tensor> static_async_add(std::string to, Tensor x, Tensor y, Tensor z);
  static Future<Tensor> class_async_add(const rpc::ClassName& type, std::string to, Tensor x, Tensor y, Tensor z);
  Future<Tensor> bound_async_add(std::string to, Tensor x, Tensor y, Tensor z);
};

// Averages gradients of several trainers; each gets the mean of a round once all have sent theirs.
class ParameterServer {
 public:
  explicit ParameterServer(int trainers) : trainers_(trainers) {}

  static Tensor get_gradient(RRef<ParameterServer> rref);
  static Future<Tensor> average(RRef<ParameterServer> rref, std::int64_t iteration, Tensor gradient);

 private:
  Future<Tensor> add(std::int64_t iteration, const Tensor& gradient);

  const int trainers_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::int64_t iteration_ = 0;
  int updates_ = 0;
  std::vector<Future<Tensor>> futures_;
  Tensor total_, gradient_;
};
// Trains a table of rows with that server for ten rounds. Throws Error{Failed} if its mean is not the gradient.
void run_ps_trainer(RRef<ParameterServer> rref, bool sparse);

}  // namespace distrun::suites
