#include "algebra/matrices.h"

namespace tenon::algebra {

Selection selection_of(const Artifacts& artifacts) {
  Selection selection;
  for (const std::vector<Choice>& row : artifacts.sigma) {
    auto& tools = selection.emplace_back();
    for (const Choice& choice : row) tools.push_back(choice.tool + 1);
  }
  return selection;
}

std::vector<std::uint32_t> row_counts(const Selection& selection) {
  std::vector<std::uint32_t> counts;
  for (const auto& row : selection) counts.push_back(static_cast<std::uint32_t>(row.size()));
  return counts;
}

std::uint32_t row_count_max(const Selection& selection) {
  std::size_t most = 0;
  for (const auto& row : selection) most = std::max(most, row.size());
  return static_cast<std::uint32_t>(most);
}

std::vector<std::uint32_t> call_sequence(const Selection& selection) {
  std::vector<std::uint32_t> sequence;
  for (const auto& row : selection) sequence.insert(sequence.end(), row.begin(), row.end());
  return sequence;
}

Mask selection_mask(const Selection& selection, std::size_t cycle, std::size_t tools) {
  return selection_mask(Selection{selection.at(cycle)}, tools);
}

Mask selection_mask(const Selection& selection, std::size_t tools) {
  const std::vector<std::uint32_t> sequence = call_sequence(selection);
  Mask mask(sequence.size(), tools, 0);
  for (std::size_t row = 0; row < sequence.size(); ++row) mask.at(row, sequence[row] - 1) = 1;
  return mask;
}

std::vector<Mask> selection_tensor(const Selection& selection, std::size_t tools) {
  std::vector<Mask> tensor(selection.size(), Mask(row_count_max(selection), tools, 0));
  for (std::size_t cycle = 0; cycle < selection.size(); ++cycle) {
    for (std::size_t row = 0; row < selection[cycle].size(); ++row)
      tensor[cycle].at(row, selection[cycle][row] - 1) = 1;
  }
  return tensor;
}

Matrix<std::uint32_t> tool_indices(const Selection& selection) {
  return arrange<std::uint32_t>(selection, call_sequence(selection), 0);
}

std::optional<Selection> selection_of(const std::vector<Mask>& tensor) {
  Selection selection;
  for (const Mask& mask : tensor) {
    auto& tools = selection.emplace_back();
    for (std::size_t row = 0; row < mask.rows(); ++row) {
      std::uint32_t tool = 0;
      for (std::size_t column = 0; column < mask.columns(); ++column) {
        if (mask.at(row, column) == 0) continue;
        if (tool != 0) return std::nullopt;
        tool = static_cast<std::uint32_t>(column + 1);
      }
      if (tool == 0) continue;
      if (tools.size() != row) return std::nullopt;
      tools.push_back(tool);
    }
  }
  return selection;
}

}  // namespace tenon::algebra
