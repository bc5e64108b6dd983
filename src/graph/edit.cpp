#include "graph/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/edit_step.h"
#include "graph/expected_graph.h"
#include "syntax/parse.h"

namespace tenon::graph {
namespace {

/// A text, its tree and its graph. It cannot be moved, because the tree refers to the file.
class ReadText {
 public:
  explicit ReadText(std::string text)
      : file_({0}, "", std::move(text)), tree_(syntax::parse(file_, diagnostics_)), graph_(make_graph(tree_)) {}
  ReadText(const ReadText&) = delete;
  ReadText& operator=(const ReadText&) = delete;

  [[nodiscard]] EditedText edited() const { return {tree_, graph_}; }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] std::optional<std::string> find_syntax_error() {
    diagnostics_.sort();
    for (const diagnostics::Diagnostic& diagnostic : diagnostics_.all()) {
      if (diagnostic.code.severity != diagnostics::Severity::Error) continue;
      const source::Position place = file_.position(diagnostic.span.offset);
      return fmt::format("{}:{}: {}", place.line, place.column, diagnostic.message);
    }
    return std::nullopt;
  }

 private:
  source::SourceFile file_;
  diagnostics::Diagnostics diagnostics_;
  syntax::SyntaxTree tree_;
  Graph graph_;
};

/// `names` are those of the agent's blocks so far: its sequences share them.
std::optional<std::string> find_problem(const Agent& agent, const Sequence& sequence,
                                        std::set<std::string_view>& names) {
  for (const Block& block : sequence.blocks) {
    if (!names.insert(block.name).second) return fmt::format("`{}` has two blocks `{}`", agent.name, block.name);
    for (const Edge& edge : block.edges) {
      if (sequence.find(edge.target) != nullptr) continue;
      return fmt::format("the block `{}` of `{}` leads to `{}`, which is not a block of the same sequence", block.path,
                         agent.name, edge.target);
    }
    for (const Sequence& nested : block.nested) {
      if (auto problem = find_problem(agent, nested, names)) return problem;
    }
  }
  return std::nullopt;
}

std::optional<std::string> find_problem(ReadText& text) {
  if (auto error = text.find_syntax_error()) return error;
  for (const Agent& agent : text.graph().agents) {
    std::set<std::string_view> names;
    for (const Sequence& sequence : agent.sequences) {
      if (auto problem = find_problem(agent, sequence, names)) return problem;
    }
    if (agent.start && agent.main().find(*agent.start) == nullptr) {
      return fmt::format("`{}` starts with `{}`, which is not one of its blocks", agent.name, *agent.start);
    }
  }
  return std::nullopt;
}

/// The text between two edits, and what undoes the edits so far.
class Editing {
 public:
  explicit Editing(std::string_view text) : text_(text), steps_(text.size()) {}

  /// Applies the edit, and compares the graph of the result with the one that the edit describes: a value must not have
  /// effects beyond its end, such as a comment that hides the rest of the line.
  [[nodiscard]] std::optional<std::string> run(const Edit& edit) {
    const std::string text = text_;
    if (auto problem = make(edit)) return problem;
    ReadText before(text);
    ReadText now(text_);
    if (auto error = now.find_syntax_error()) return error;
    if (const auto change = find_unexpected_change(before.graph(), edit, now.graph())) {
      return fmt::format(
          "the edit would change more than it specifies in {}; write each value as one expression, "
          "without a comment after it",
          *change);
    }
    return std::nullopt;
  }

  [[nodiscard]] Edited take() {
    std::reverse(inverse_.begin(), inverse_.end());
    return {std::move(text_), steps_.joined(), std::move(inverse_)};
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  [[nodiscard]] std::optional<std::string> make(const Edit& edit) {
    const auto* const move = std::get_if<MoveBlock>(&edit);
    if (move == nullptr) {
      return step([&](const EditedText& text) {
        return std::visit(
            [&](const auto& single) -> Change {
              if constexpr (std::is_same_v<std::decay_t<decltype(single)>, MoveBlock>) {
                return {};
              } else {
                return change(text, single);
              }
            },
            edit);
      });
    }
    const std::string_view target = move->place.sequence;
    if (target == move->block || target.starts_with(move->block + '/')) {
      return fmt::format("`{}` cannot be moved into itself", move->block);
    }
    if (move->place.after == std::string(name_in(move->block)) && target == sequence_of(move->block)) {
      return fmt::format("`{}` cannot be moved after itself", move->block);
    }
    std::string source;
    auto problem = step([&](const EditedText& text) -> Change {
      auto found = block_source(text, move->agent, move->block);
      if (!found) return failure(found.error());
      source = std::move(*found);
      return change(text, DeleteBlock{move->agent, move->block});
    });
    if (problem) return problem;
    return step([&](const EditedText& text) { return insert_block(text, move->agent, move->place, source); });
  }

  template <class MakeChange>
  std::optional<std::string> step(MakeChange make_change) {
    ReadText read(text_);
    if (auto error = read.find_syntax_error()) return error;
    Change change = make_change(read.edited());
    if (!change) return change.error();
    // Undone in reverse order, so that the offsets are valid.
    std::size_t grown = 0;
    for (const Patch& patch : *change) {
      inverse_.emplace_back(Replace{patch.offset + grown, patch.inserted, text_.substr(patch.offset, patch.removed)});
      grown += patch.inserted.size() - patch.removed;  // wraps around if it shrinks
    }
    text_ = patched(text_, *change);
    steps_.add(*change);
    return std::nullopt;
  }

  std::string text_;
  PatchSteps steps_;
  std::vector<Edit> inverse_;
};

/// Makes all edits, or none.
std::optional<Refusal> make(Editing& editing, std::span<const Edit> edits) {
  for (std::size_t index = 0; index < edits.size(); ++index) {
    if (auto reason = editing.run(edits[index])) return Refusal{index, std::move(*reason), editing.text()};
  }
  return std::nullopt;
}

}  // namespace

Result<Edited, Refusal> apply_edits(std::string_view text, std::span<const Edit> edits, const TextCheck& check) {
  Editing editing(text);
  if (auto refusal = make(editing, edits)) return failure(std::move(*refusal));
  if (auto reason = find_graph_problem(editing.text()))
    return failure(Refusal{std::nullopt, std::move(*reason), editing.text()});
  if (check) {
    if (auto reason = check(editing.text())) return failure(Refusal{std::nullopt, std::move(*reason), editing.text()});
  }
  return editing.take();
}

Result<Edited, Refusal> edit_draft(std::string_view text, std::span<const Edit> edits) {
  Editing editing(text);
  if (auto refusal = make(editing, edits)) return failure(std::move(*refusal));
  return editing.take();
}

Result<std::vector<Edit>, Refusal> invert(std::string_view text, std::span<const Edit> edits) {
  auto edited = apply_edits(text, edits);
  if (!edited) return failure(edited.error());
  return std::move(edited->inverse);
}

std::optional<std::string> find_graph_problem(std::string_view text) {
  ReadText read{std::string(text)};
  return find_problem(read);
}

}  // namespace tenon::graph
