"""Lines and values as texts: what tests/tools/run_tensor_program.cpp reads and tells."""
import typing

import torch


def operator_of(line):
    """`add` of "c = add a b"; what a line without a result begins with."""
    words = line.split(" ", 3)
    return words[2] if len(words) > 2 and words[1] == "=" else words[0]


def list_text(numbers):
    return "[" + ",".join(str(number) for number in numbers) + "]"


def read_list(word):
    return [int(number) for number in word[1:-1].split(",") if number]


def dtype_name(tensor):
    return str(tensor.dtype).removeprefix("torch.")


def contiguous_strides(sizes):
    strides = [1] * len(sizes)
    for dim in reversed(range(len(sizes) - 1)):
        strides[dim] = strides[dim + 1] * max(sizes[dim + 1], 1)
    return strides


class Shown(typing.NamedTuple):
    """A tensor as both sides tell it."""

    dtype: str
    sizes: list
    layout: str  # "strided", "sparse/DIMS/ENTRIES", "coalesced/DIMS/ENTRIES"
    needs_gradient: bool
    values: torch.Tensor  # dense, contiguous

    def has_layout_of(self, other):
        """Strided, or of as many sparse dimensions; of those without entries people disagree."""
        if self.layout.endswith("/0") and other.layout.endswith("/0"):
            return True
        return self.layout.split("/")[1:2] == other.layout.split("/")[1:2]

    def __str__(self):
        flag = "grad" if self.needs_gradient else "-"
        values = " ".join(repr(value) for value in numbers_of(self.values))
        return f"{self.dtype} {list_text(self.sizes)} {self.layout} {flag} : {values}"


def numbers_of(tensor):
    values = tensor.flatten().tolist()
    return [int(value) for value in values] if tensor.dtype == torch.bool else values


def shown(value):
    """A Shown, or a text for what is no tensor."""
    if value is None:
        return "none"
    if not isinstance(value, torch.Tensor):
        return f"{type(value).__name__} {str(value).lower() if isinstance(value, bool) else repr(value)}"
    layout, dense = "strided", value.detach()
    if value.is_sparse:
        layout = f"{'coalesced' if value.is_coalesced() else 'sparse'}/{value.sparse_dim()}/{value._nnz()}"
        # torch writes where nothing is if the values are not contiguous.
        dense = torch.sparse_coo_tensor(dense._indices(), dense._values().contiguous(), dense.shape).to_dense()
    return Shown(dtype_name(value), list(value.shape), layout, value.requires_grad, dense.contiguous())


def read_shown(text):
    """Of an answer of ours, behind the name."""
    words = text.split(" ")
    if len(words) < 5 or words[4] != ":":
        return text
    sizes = read_list(words[1])
    return Shown(words[0], sizes, words[2], words[3] == "grad", read_values(words[0], words[5:]).reshape(sizes))


def read_values(dtype, words):
    dtype = getattr(torch, dtype)
    read = float if dtype.is_floating_point else int
    return torch.tensor([read(word) for word in words], dtype=dtype)
