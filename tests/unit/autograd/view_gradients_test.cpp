#include <catch2/catch.hpp>

#include "gradient_cases.hpp"

namespace distrun::test {

Cases view_cases() {
  const auto tail = [](const Tensor& a) { return narrow(a, 0, a.size(0) / 2, a.size(0) - a.size(0) / 2); };
  return {
      {"view", unary([](auto& a) { return view(clone(a), {a.numel()}); })},
      {"reshape", unary([](auto& a) {
         return reshape(a, {a.numel(), 1});
       })},
      {"flatten", unary([](auto& a) { return flatten(a); })},
      {"expand", sized(
                     [](auto n, auto k, auto, auto) {
                       return Sizes{{n, 1, k}};
                     },
                     [](auto& in) {
                       return one(expand(in[0], {2, -1, 3, -1}));
                     })},
      {"transpose", unary([](auto& a) { return transpose(a, 0, -1); }, 1)},
      {"t", sized(
                [](auto n, auto k, auto, auto) {
                  return Sizes{{n, k}};
                },
                [](auto& in) { return one(t(in[0])); })},
      {"permute", sized(
                      [](auto n, auto k, auto m, auto) {
                        return Sizes{{n, k, m}};
                      },
                      [](auto& in) {
                        return one(permute(in[0], {2, 0, -2}));
                      })},
      {"unsqueeze", unary([](auto& a) { return unsqueeze(a, -1); })},
      {"squeeze", sized(
                      [](auto n, auto k, auto, auto) {
                        return Sizes{{n, 1, k}};
                      },
                      [](auto& in) { return one(squeeze(in[0], 1)); })},
      {"squeeze of all", sized(
                             [](auto n, auto k, auto, auto) {
                               return Sizes{{n, 1, k, 1}};
                             },
                             [](auto& in) { return one(squeeze(in[0])); })},
      {"narrow", unary(tail, 1)},
      {"select", sized(
                     [](auto n, auto k, auto, auto) {
                       return Sizes{{n, k + 1}};
                     },
                     [](auto& in) { return one(select(in[0], 1, -1)); })},
      {"split", sized(
                    [](auto n, auto k, auto, auto) {
                      return Sizes{{n, k + 1}};
                    },
                    [](auto& in) { return split(in[0], 2, 1); })},
      {"split by sizes", sized(
                             [](auto n, auto k, auto, auto) {
                               return Sizes{{k + 3, n}};
                             },
                             [](auto& in) {
                               return split(in[0], Dims{1, 2, in[0].size(0) - 3});
                             })},
  };
}

Cases copy_cases() {
  return {
      {"clone and contiguous", unary([](auto& a) { return contiguous(clone(a)); })},
      {"to", unary([](auto& a) { return to(to(a, device::kCpu), a.device()); })},
      {"cat", sized(
                  [](auto n, auto k, auto m, auto) {
                    return Sizes{{n, k}, {n, m}, {n, 1}};
                  },
                  [](auto& in) { return one(cat(in, -1)); })},
      {"stack", sized(
                    [](auto n, auto k, auto, auto) {
                      return Sizes{{n, k}, {n, k}, {n, k}};
                    },
                    [](auto& in) { return one(stack(in, 1)); })},
  };
}

// In-place operators on views change the base, and everything derived from it.
Cases changed_view_cases() {
  const auto matrices = [](auto n, auto k, auto, auto) { return Sizes{{n + 1, k + 1}, {k + 1}}; };
  return {
      {"a row of a clone in place", sized(matrices,
                                          [](auto& in) {
                                            const Tensor base = in[0] * 1;
                                            mul_(select(base, 0, 0), in[1]);
                                            return TensorList{base, base * base};
                                          })},
      {"a view after its base is changed", sized(matrices,
                                                 [](auto& in) {
                                                   const Tensor base = in[0] * 1;
                                                   const Tensor row = select(base, 0, 0),
                                                                column = narrow(base, 1, 0, 1);
                                                   mul_(base, in[1]);
                                                   return TensorList{row, column * 2, base};
                                                 })},
      {"a view after another is changed", sized(matrices,
                                                [](auto& in) {
                                                  const Tensor base = in[0] * 1;
                                                  const Tensor turned = transpose(base, 0, 1);
                                                  add_(select(base, 0, 0), in[1], 3);
                                                  div_(narrow(turned, 0, 0, 1), 2);
                                                  return TensorList{turned, view(base, {base.numel()})};
                                                })},
      {"an expanded view after its base is changed", sized(matrices,
                                                           [](auto& in) {
                                                             const Tensor base = in[1] * 1;
                                                             const Tensor wide = expand(base, in[0].sizes());
                                                             mul_(base, 3);
                                                             return one(wide * in[0]);
                                                           })},
      {"zeros that are filled", sized(matrices,
                                      [](auto& in) {
                                        const Tensor base = zeros_like(in[0]);
                                        copy_(select(base, 0, -1), in[1]);
                                        return TensorList{base * in[0], select(base, 0, -1)};
                                      })},
  };
}

TEST_CASE("gradients of views are those of central differences") { check_on_all_devices(view_cases()); }
TEST_CASE("gradients of copies and joins are those of central differences") { check_on_all_devices(copy_cases()); }
TEST_CASE("gradients through views that are changed in place are those of central differences") {
  check_on_all_devices(changed_view_cases());
}

}  // namespace distrun::test
