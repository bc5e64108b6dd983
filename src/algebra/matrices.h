#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "algebra/artifacts.h"
#include "base/ensure.h"

/// The forms that follow from sigma: matrices and tensors of the interaction algebra. A `Selection` is the part of
/// sigma that they need: for each cycle the tools that were called, in order. Tools count from 1, so that 0 is free for
/// padding.
namespace tenon::algebra {

using Selection = std::vector<std::vector<std::uint32_t>>;
[[nodiscard]] Selection selection_of(const Artifacts& artifacts);

/// Row by row.
template <class T>
class Matrix {
 public:
  Matrix(std::size_t rows, std::size_t columns, T fill = T())
      : rows_(rows), columns_(columns), cells_(rows * columns, fill) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] T& at(std::size_t row, std::size_t column) { return cells_[row * columns_ + column]; }
  [[nodiscard]] const T& at(std::size_t row, std::size_t column) const { return cells_[row * columns_ + column]; }
  [[nodiscard]] const std::vector<T>& cells() const { return cells_; }
  friend bool operator==(const Matrix&, const Matrix&) = default;

 private:
  std::size_t rows_;
  std::size_t columns_;
  std::vector<T> cells_;
};
using Mask = Matrix<std::uint8_t>;  ///< of 0 and 1

/// m: how many calls each cycle has; k numbers.
[[nodiscard]] std::vector<std::uint32_t> row_counts(const Selection& selection);
/// mu: the largest of them; 0 without cycles.
[[nodiscard]] std::uint32_t row_count_max(const Selection& selection);
/// J: the tools of all calls in order.
[[nodiscard]] std::vector<std::uint32_t> call_sequence(const Selection& selection);
/// S_i: m_i x n, with a 1 in each row, in the column of the tool. `cycle` counts from 0.
[[nodiscard]] Mask selection_mask(const Selection& selection, std::size_t cycle, std::size_t tools);
/// S: all S_i below one another.
[[nodiscard]] Mask selection_mask(const Selection& selection, std::size_t tools);
/// Sigma: k x mu x n. Each S_i with its rows in order, and zeros after them.
[[nodiscard]] std::vector<Mask> selection_tensor(const Selection& selection, std::size_t tools);
/// sigma: k x mu, the tools; 0 after each row's calls.
[[nodiscard]] Matrix<std::uint32_t> tool_indices(const Selection& selection);
/// The inverse of Sigma; nothing when a row has several ones, or comes after an empty one.
[[nodiscard]] std::optional<Selection> selection_of(const std::vector<Mask>& tensor);

/// theta of q, rho of r: k x mu, the items in the order of the calls; `padding` after each row's. As many items as
/// calls.
template <class T>
[[nodiscard]] Matrix<T> arrange(const Selection& selection, const std::vector<T>& items, const T& padding) {
  Matrix<T> arranged(selection.size(), row_count_max(selection), padding);
  std::size_t next = 0;
  for (std::size_t cycle = 0; cycle < selection.size(); ++cycle) {
    for (std::size_t call = 0; call < selection[cycle].size(); ++call) arranged.at(cycle, call) = items.at(next++);
  }
  ENSURE(next == items.size());
  return arranged;
}

/// The Kronecker product over function composition: m x n, `call(tool, query)` for each query and each tool.
template <class Query, class ToolType, class Call>
[[nodiscard]] auto compose(const std::vector<Query>& queries, const std::vector<ToolType>& tools, Call call) {
  Matrix<decltype(call(tools[0], queries[0]))> product(queries.size(), tools.size());
  for (std::size_t row = 0; row < queries.size(); ++row) {
    for (std::size_t column = 0; column < tools.size(); ++column) {
      product.at(row, column) = call(tools[column], queries[row]);
    }
  }
  return product;
}

/// The Hadamard product with a mask of the same shape: what is under a 1; T() elsewhere.
template <class T>
[[nodiscard]] Matrix<T> select(const Mask& mask, const Matrix<T>& matrix) {
  ENSURE(mask.columns() == matrix.columns() && mask.rows() == matrix.rows());
  Matrix<T> selected(matrix.rows(), matrix.columns());
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    for (std::size_t column = 0; column < matrix.columns(); ++column) {
      if (mask.at(row, column) != 0) selected.at(row, column) = matrix.at(row, column);
    }
  }
  return selected;
}

/// R: m x n, each result in the row of its call and the column of its tool; `nothing` elsewhere. The result of `select`
/// of S and `compose`, without calling anything.
template <class T>
[[nodiscard]] Matrix<T> result_matrix(const Selection& selection, std::size_t tools, const std::vector<T>& results,
                                      const T& nothing) {
  const std::vector<std::uint32_t> sequence = call_sequence(selection);
  ENSURE(sequence.size() == results.size());
  Matrix<T> matrix(results.size(), tools, nothing);
  for (std::size_t row = 0; row < sequence.size(); ++row) matrix.at(row, sequence[row] - 1) = results[row];
  return matrix;
}

}  // namespace tenon::algebra
