#include <distrun/runtime/tensor/kernels/instruction_set.hpp>

#include <atomic>
#include <string>

#include <distrun/common/base/error.hpp>

namespace distrun::tensor {
namespace kernels {

#define DISTRUN_DECLARE_KERNELS(set)                 \
  extern const UnaryKernels unary_kernels_##set;     \
  extern const BinaryKernels binary_kernels_##set;   \
  extern const ChoiceKernels choice_kernels_##set;   \
  extern const CopyKernels copy_kernels_##set;       \
  extern const SumKernels sum_kernels_##set;         \
  extern const RandomKernels random_kernels_##set;   \
  extern const LoopProducts loop_products_##set;     \
  extern const PanelKernels panel_kernels_##set;     \
  extern const SoftmaxKernels softmax_kernels_##set; \
  extern const RowKernels row_kernels_##set;         \
  extern const ChannelKernels channel_kernels_##set; \
  extern const ExtremeKernels extreme_kernels_##set; \
  extern const Multiply multiply_f32_##set;          \
  extern const Multiply multiply_f64_##set;
#define DISTRUN_TABLE(set)                                                                                             \
  {                                                                                                                    \
    &unary_kernels_##set, &binary_kernels_##set, &choice_kernels_##set, &copy_kernels_##set, &sum_kernels_##set,       \
        &random_kernels_##set, &loop_products_##set, &panel_kernels_##set, &softmax_kernels_##set, &row_kernels_##set, \
        &channel_kernels_##set, &extreme_kernels_##set, multiply_f32_##set, multiply_f64_##set                         \
  }
DISTRUN_DECLARE_KERNELS(plain)
#if DISTRUN_X86_KERNELS
DISTRUN_DECLARE_KERNELS(avx2)
DISTRUN_DECLARE_KERNELS(avx512)
#endif

namespace {

const Table& table_of(InstructionSet set) noexcept {
#if DISTRUN_X86_KERNELS
  if (set == InstructionSet::Avx512) {
    static const Table avx512 = DISTRUN_TABLE(avx512);
    return avx512;
  }
  if (set == InstructionSet::Avx2) {
    static const Table avx2 = DISTRUN_TABLE(avx2);
    return avx2;
  }
#endif
  (void)set;
  static const Table plain = DISTRUN_TABLE(plain);
  return plain;
}

constinit std::atomic<const Table*> table_in_use = nullptr;

}  // namespace

const Table& table() noexcept {
  const Table* table = table_in_use.load(std::memory_order_acquire);
  if (table == nullptr) [[unlikely]] {
    table = &table_of(best_instruction_set());
    table_in_use.store(table, std::memory_order_release);  // a concurrent thread stores the same
  }
  return *table;
}

}  // namespace kernels

std::string_view name_of(InstructionSet set) noexcept {
  switch (set) {
    case InstructionSet::Avx2: return "avx2";
    case InstructionSet::Avx512: return "avx512";
    case InstructionSet::Plain: break;
  }
  return "plain";
}

InstructionSet best_instruction_set() noexcept {
#if DISTRUN_X86_KERNELS
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  if (has_avx2 && has_avx512) return InstructionSet::Avx512;
  if (has_avx2) return InstructionSet::Avx2;
#endif
  return InstructionSet::Plain;
}

InstructionSet instruction_set() noexcept {
  for (const InstructionSet set : {InstructionSet::Avx512, InstructionSet::Avx2}) {
    if (set <= best_instruction_set() && &kernels::table() == &kernels::table_of(set)) return set;
  }
  return InstructionSet::Plain;
}

void use_instruction_set(InstructionSet set) {
  if (set > best_instruction_set()) {
    throw Error(ErrorKind::InvalidArgument, "this machine has no " + std::string(name_of(set)) + "; its best is " +
                                                std::string(name_of(best_instruction_set())));
  }
  kernels::table_in_use.store(&kernels::table_of(set), std::memory_order_release);
}

}  // namespace distrun::tensor
