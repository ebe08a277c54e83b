"""Differences that are meant, each with its reason."""
import re
import typing


class Accepted(typing.NamedTuple):
    operators: str  # all that matches
    kind: str
    texts: str  # found in what the sides say
    reason: str


TORCHS_MISTAKE = "a mistake of torch's"
OVERLAP = "an input that overlaps the output is copied first"
NOT_SPARSE = "not for such sparse tensors"

ACCEPTED = [
    # what libdistrun/runtime/tensor/README.md says
    Accepted("sub_?|rsub", "torch refuses", "with (a|two) bool tensor", "only bool results can't be subtracted"),
    Accepted("clamp(_min|_max)?_?|fill_|masked_fill|where", "ours refuses", "does not fit",
             "a number that an integer can't hold is refused"),
    Accepted("mm|bmm|matmul|linear|multi_dot|conv2d", "ours refuses",
             "must have the same dtype|not for elements of bool", "dtypes of products matter without elements, too"),
    Accepted("cat", "ours refuses", "must have the same number of dimensions|dimension out of range",
             "no tensor without elements of another shape"),
    Accepted("select", "another layout", "", "one row selected of a sparse vector is sparse"),
    Accepted("backward", "torch refuses", "modified by an inplace operation",
             "formulas keep only what they need, and what a.mul_(a) overwrites"),
    Accepted("flatten|dropout", "another needs_gradient", "", "a view made without recording needs no gradient"),
    # other limits, and what goes further than torch
    Accepted("backward", "(ours|torch) refuses", "through the graph a second time",
             "a second pass is refused by nodes that kept tensors"),
    Accepted("backward", "ours refuses", "(LinalgMultiDot|Matmul)Backward0 expected version",
             "multi_dot and larger matmul are one node, and keep what they were given"),
    Accepted("equal", "another number", "", "equal() is false for different dtypes"),
    Accepted("mse_loss", "ours refuses", "must have the same sizes", "what torch warns of is refused"),
    Accepted("nll_loss|cross_entropy", "torch refuses", "with respect to argument 'weight'",
             "weights of losses get no gradient"),
    Accepted("(add|sub)_?", "torch refuses", "Boolean alpha only supported", "a bool alpha is 0 or 1"),
    Accepted("index_add_?", "ours refuses", "alpha must (be a number and not a bool|not be a floating number)",
             "its alpha is as add()'s"),
    Accepted("backward", "torch refuses", "grad_weight must be contiguous", TORCHS_MISTAKE),
    Accepted("(masked_)?fill_?", "torch refuses", "cannot be converted to type .* without overflow", "-0.25 becomes 0"),
    Accepted(".*_", "torch refuses", "input tensor and the written-to tensor refer to a single", OVERLAP),
    Accepted(".*_", "other values of operands that overlap", "", OVERLAP),
    Accepted("(log_)?softmax|batch_norm|layer_norm|conv2d|dropout", "ours refuses", "a floating dtype is required",
             "not of integers, though there are none"),
    Accepted("batch_norm", "torch refuses", "Expected more than 1 value per channel", "a batch of one"),
    Accepted("batch_norm", "ours refuses", "must be .batch, channels|there must be one number for each|"
             "there is no element in a channel", "sizes of batches and weights are looked at"),
    Accepted("cross_entropy|nll_loss", "ours refuses", "there must be one weight for each", "weights have a dimension"),
    Accepted("conv2d|max_pool2d", "ours refuses", "a tensor with 4 dimensions is needed", "images come in batches"),
    Accepted("linear", "ours refuses", "a tensor with 2 dimensions is needed", "weights are matrices"),
    Accepted("linear", "torch refuses", "expand", "any bias that stretches"),
    Accepted("norm", "ours refuses", "p must be 0, 1, 2 or infinity|there is no element", "norms of other orders"),
    Accepted("masked_fill", "ours refuses", "the mask must be expandable to the tensor's sizes",
             "its result has x's sizes"),
    Accepted("masked_fill|masked_select|where", "ours refuses", "must be bool", "masks are bool"),
    Accepted("clamp_?", "ours refuses", "not for elements of bool", "clamp() of bool"),
    Accepted("backward", "another number", "", "norms of order 0 have a gradient, which is 0"),
    Accepted("bernoulli", "another needs_gradient", "", "what is drawn has no gradient, not even 0"),
    Accepted("index_add_?", "ours refuses", "the source must have the sizes", "sources have the sizes that they need"),
    Accepted("gather|scatter_add_?", "ours refuses", "the index must be no larger than",
             "an index of nothing is looked at"),
    Accepted(".*", "torch refuses", "not implemented for '", "torch has not got it for all dtypes"),
    Accepted("index_select", "torch refuses", "index to scalar", "what has no dimensions is a list of one"),
    # sparse ones
    Accepted("mul_", "ours refuses", "cannot be cast to the output's .sparse", "also of sparse ones without entries"),
    Accepted("mul_?", "ours refuses", "sizes must be the same, since one is sparse|"
             "as many sparse dimensions are needed in both", NOT_SPARSE),
    Accepted("add_?", "ours refuses", "as many sparse dimensions are needed in both", NOT_SPARSE),
    Accepted(".*", "ours refuses", "a strided tensor is needed|not for sparse tensors|not along a dense dimension",
             NOT_SPARSE),
    Accepted(".*", "torch refuses", "Could not run 'aten::.*' with arguments from the 'SparseCPU'", "torch has it not"),
    Accepted("add|sub", "torch refuses", r"add\(sparse, dense\) is not supported", "sparse + dense is dense + sparse"),
    Accepted("show", "another value later", "(sparse|coalesced)/", "what is coalesced already is no copy"),
    # of torch 1.13
    Accepted("add_|copy_", "ours refuses", "the same place in memory", TORCHS_MISTAKE),
    Accepted("embedding_bag", "torch refuses", "INTERNAL ASSERT", TORCHS_MISTAKE),
    Accepted("conv2d", "another sizes", r"\[\d+,0,", TORCHS_MISTAKE),  # no channels in, so none out
    Accepted("embedding_bag", "ours refuses", "a tensor with 2 dimensions is needed", TORCHS_MISTAKE),
    Accepted("nll_loss|cross_entropy", "ours refuses", "the target must have the input's sizes", TORCHS_MISTAKE),
    Accepted("batch_norm", "torch refuses", "index 0 out of range for tensor of size .0.", TORCHS_MISTAKE),
    Accepted("backward", "torch refuses", "expected layout Sparse but got Strided|Found dtype .* but expected|"
             "grad_input must be contiguous|with a bool tensor is not supported|view size is not compatible|"
             "Function .* returned an invalid gradient", TORCHS_MISTAKE),
]


def accepted(operator, kind, text):
    """The one that covers this difference, or None."""
    for each in ACCEPTED:
        if re.fullmatch(each.operators, operator) and re.fullmatch(each.kind, kind) and re.search(each.texts, text):
            return each
    return None
