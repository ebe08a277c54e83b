#include <distrun/runtime/tensor/print.hpp>

#include <algorithm>
#include <ostream>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/number_format.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/joining.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun::tensor {
namespace {

constexpr std::int64_t kMostShown = 1000;  // elements
constexpr std::int64_t kEdge = 3;          // shown at either end of each dimension of a larger tensor
constexpr std::size_t kLineWidth = 80;

// Prints the elements of a CPU tensor as nested lists.
class Body {
 public:
  explicit Body(const Tensor& tensor)
      : is_shortened_(tensor.numel() > kMostShown), format_(is_shortened_ ? edges_of(tensor) : tensor) {}

  std::string text(const Tensor& tensor, std::size_t indent) const {
    if (tensor.dim() == 0) return format_.padded(tensor.item());
    return tensor.dim() == 1 ? line(tensor, indent) : block(tensor, indent);
  }

 private:
  static Tensor edges_of(const Tensor& tensor) {
    Tensor edges = tensor;
    for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) {
      const std::int64_t size = edges.size(dim);
      if (size <= 2 * kEdge) continue;
      edges = cat({narrow(edges, dim, 0, kEdge), narrow(edges, dim, size - kEdge, kEdge)}, dim);
    }
    return edges;
  }

  // Calls `show` for each shown element, and `skip` where some are omitted.
  template <class Show, class Skip>
  void for_shown(const Tensor& tensor, Show show, Skip skip) const {
    const std::int64_t size = tensor.size(0);
    const bool has_gap = is_shortened_ && size > 2 * kEdge;
    for (std::int64_t i = 0; i < size; ++i) {
      if (has_gap && i == kEdge) {
        skip();
        i = size - kEdge;
      }
      show(select_view(tensor, 0, i));
    }
  }

  std::string line(const Tensor& tensor, std::size_t indent) const {
    const std::size_t each = format_.width() + 2;
    const std::size_t in_line = std::max<std::size_t>(1, (kLineWidth - std::min(indent, kLineWidth)) / each);
    std::string text = "[";
    std::size_t count = 0;
    const auto put = [&](const std::string& element) {
      if (count > 0) text += count % in_line == 0 ? ",\n" + std::string(indent + 1, ' ') : ", ";
      text += element;
      ++count;
    };
    for_shown(
        tensor, [&](const Tensor& element) { put(format_.padded(element.item())); }, [&] { put(" ..."); });
    return text + "]";
  }

  std::string block(const Tensor& tensor, std::size_t indent) const {
    const std::string between =
        "," + std::string(static_cast<std::size_t>(tensor.dim()) - 1, '\n') + std::string(indent + 1, ' ');
    std::string text = "[";
    const auto put = [&](const std::string& part) { text += (text.size() > 1 ? between : "") + part; };
    for_shown(
        tensor, [&](const Tensor& part) { put(this->text(part, indent + 1)); }, [&] { put("..."); });
    return text + "]";
  }

  bool is_shortened_;
  NumberFormat format_;
};

std::string elements_text(const Tensor& tensor, std::size_t indent) {
  if (tensor.numel() == 0) return "[]";
  const Tensor here = to(tensor, device::kCpu);
  return Body(here).text(here, indent);
}

std::string size_text(const Tensor& tensor) {
  std::string text = to_string(tensor.sizes());
  text.front() = '(';
  text.back() = ')';
  if (tensor.dim() == 1) text.insert(text.size() - 1, ",");
  return "size=" + text;
}

// Prints the indices or values of a sparse tensor.
std::string part_text(const Tensor& part, std::size_t indent) {
  return elements_text(part, indent) + (part.numel() == 0 ? ", " + size_text(part) + ")" : ")");
}

// float32, int64 and bool are not printed: numbers without a dtype have these. An empty list is float32.
bool has_known_dtype(const Tensor& tensor) {
  if (tensor.dtype() == DType::F32) return true;
  const bool shows_numbers = tensor.numel() > 0 || tensor.is_sparse();
  return shows_numbers && (tensor.dtype() == DType::I64 || tensor.dtype() == DType::Bool);
}

std::vector<std::string> own_suffixes(const Tensor& tensor) {
  std::vector<std::string> suffixes;
  if (!tensor.device().is_cpu()) suffixes.push_back("device='" + to_string(tensor.device()) + "'");
  if (tensor.is_sparse()) {
    suffixes.push_back(size_text(tensor));
    suffixes.push_back("nnz=" + std::to_string(nnz(tensor)));
    if (!has_known_dtype(tensor)) suffixes.push_back("dtype=" + std::string(name_of(tensor.dtype())));
    suffixes.push_back("layout=sparse_coo");
    return suffixes;
  }
  if (tensor.numel() == 0 && tensor.dim() != 1) suffixes.push_back(size_text(tensor));
  if (!has_known_dtype(tensor)) suffixes.push_back("dtype=" + std::string(name_of(tensor.dtype())));
  return suffixes;
}

// Appends suffixes to the text, on separate lines where it would become too wide.
std::string with_suffixes(std::string text, const std::vector<std::string>& suffixes, std::size_t indent,
                          bool has_own_line) {
  std::size_t width = text.size() - (text.rfind('\n') + 1);  // npos + 1 is 0
  for (const std::string& suffix : suffixes) {
    const bool breaks = has_own_line || width + suffix.size() + 2 > kLineWidth;
    text += breaks ? ",\n" + std::string(indent, ' ') + suffix : ", " + suffix;
    width = (breaks ? indent : width + 2) + suffix.size();
    has_own_line = false;
  }
  return text + ")";
}

std::string sparse_text(const Tensor& tensor) {
  const std::string start = "tensor(", indices = "indices=tensor(", values = "values=tensor(";
  const SparseParts& parts = sparse(tensor);
  return start + indices + part_text(parts.indices, (start + indices).size()) + ",\n" + std::string(start.size(), ' ') +
         values + part_text(parts.values, (start + values).size());
}

}  // namespace

std::string to_string(const Tensor& tensor, const std::vector<std::string>& more) {
  const std::string start = "tensor(";
  if (!tensor.defined()) return start + "undefined)";
  std::vector<std::string> suffixes = own_suffixes(tensor);
  const GradientInfo* gradient = tensor.impl()->gradient.get();
  if (gradient != nullptr) suffixes.push_back(gradient->shown_of(tensor));
  if (!suffixes.empty() && suffixes.back().empty()) suffixes.pop_back();
  suffixes.insert(suffixes.end(), more.begin(), more.end());
  const std::string text = tensor.is_sparse() ? sparse_text(tensor) : start + elements_text(tensor, start.size());
  return with_suffixes(text, suffixes, start.size(), tensor.is_sparse());
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << to_string(tensor); }

}  // namespace distrun::tensor
