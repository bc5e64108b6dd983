#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/patches.h"

namespace tenon::graph {

/// Where a block goes: after the block `after` of a sequence, or to its end.
struct Place {
  std::string sequence;  ///< Sequence::path
  std::optional<std::string> after;
};

/// Identifies an edge among those of its block. Texts are those of the source; surrounding white space is ignored.
struct EdgeKey {
  EdgeKind kind = EdgeKind::Next;
  std::string label;  ///< as in Edge; empty for `next` and `else`
  std::string on;     ///< of a case
};

/// Adds a block, in the formatter's layout. A missing turn section or branch is created.
struct AddBlock {
  std::string agent;
  Place place;
  std::string name;
  std::string kind;
  std::string documentation;
  std::vector<Setting> options;  ///< without types
  std::optional<Item> item;
  std::string statements;  ///< of `code` and `set`
  std::optional<std::string> next;
};
/// Adds an edge, or redirects the one that the key identifies. A `to` is identified by its target: its label is the new
/// description.
struct Connect {
  std::string agent;
  std::string block;
  EdgeKey edge;
  std::string target;
};
/// A `to` is identified by its target, without a label.
struct Disconnect {
  std::string agent;
  std::string block;
  EdgeKey edge;
  std::optional<std::string> target;
};
/// Renames the block everywhere, including the scripts of the file's tests.
struct RenameBlock {
  std::string agent;
  std::string block;
  std::string name;
};
/// Deletes the block with its doc comment and nested blocks, but not the edges that lead to it.
struct DeleteBlock {
  std::string agent;
  std::string block;
};
/// Without a value, the option is removed.
struct SetOption {
  std::string agent;
  std::string block;
  std::string option;
  std::optional<std::string> value;
};
struct SetStatements {
  std::string agent;
  std::string block;
  std::string statements;
};
/// Moves the block with its comments and its own edges.
struct MoveBlock {
  std::string agent;
  std::string block;
  Place place;
};
/// Without a block, the section is removed.
struct SetStart {
  std::string agent;
  std::optional<std::string> block;
};
struct SetNextTurn {
  std::string agent;
  std::optional<std::string> mode;
};
/// Replaces bytes: the edits that `invert` returns. Rejected if the text has changed since.
struct Replace {
  std::size_t offset = 0;
  std::string removed;
  std::string inserted;
};

using Edit = std::variant<AddBlock, Connect, Disconnect, RenameBlock, DeleteBlock, SetOption, SetStatements, MoveBlock,
                          SetStart, SetNextTurn, Replace>;

/// Why edits were rejected; nothing was changed.
struct Refusal {
  std::optional<std::size_t> edit;  ///< its index in the list; none if the result of all edits is rejected
  std::string reason;
};

struct Edited {
  std::string text;
  std::vector<Patch> patches;  ///< what has changed, as patches of the given text, sorted
  std::vector<Edit> inverse;   ///< applied to `text`, they restore the previous bytes
};

/// An additional check of the new text: the reason why it fails, or nothing.
using TextCheck = std::function<std::optional<std::string>(std::string_view text)>;

/// Applies all edits in order, or none. All other bytes are kept. After each edit the text only needs to parse; at the
/// end, names must be unique in an agent, every edge must lead to a block of its sequence, and `check` must pass.
[[nodiscard]] Result<Edited, Refusal> apply_edits(std::string_view text, std::span<const Edit> edits,
                                                  const TextCheck& check = nullptr);
/// The same for a text that is being edited: its result only needs to parse, so a block may lead to one that is
/// missing.
[[nodiscard]] Result<Edited, Refusal> edit_draft(std::string_view text, std::span<const Edit> edits);
/// The edits that undo the given ones on their result.
[[nodiscard]] Result<std::vector<Edit>, Refusal> invert(std::string_view text, std::span<const Edit> edits);

/// Why a text is not a program whose blocks can be drawn: the first error of the parser, a duplicate name, an edge
/// without a target.
[[nodiscard]] std::optional<std::string> find_graph_problem(std::string_view text);

}  // namespace tenon::graph
