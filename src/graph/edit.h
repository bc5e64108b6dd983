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

namespace tenon::graph {

/// Where a block goes: after the block `after` of a sequence, or to its end.
struct Place {
  std::string sequence;  ///< Sequence::path
  std::optional<std::string> after;
};

/// What tells an edge from the others of its block. Texts are those of the source; white space around them does not
/// count.
struct EdgeKey {
  EdgeKind kind = EdgeKind::Next;
  std::string label;  ///< as in Edge; not of `next` and `else`
  std::string on;     ///< of a case
};

/// A new block, in the formatter's layout. A turn section or a branch that is not there yet is made.
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
/// Adds an edge, or turns the one that the key names to another block. A `to` is named by its target: its label is the
/// new description.
struct Connect {
  std::string agent;
  std::string block;
  EdgeKey edge;
  std::string target;
};
/// Of a `to` the target is needed, and no label.
struct Disconnect {
  std::string agent;
  std::string block;
  EdgeKey edge;
  std::optional<std::string> target;
};
/// With all places that name the block, also where the file's tests answer for it.
struct RenameBlock {
  std::string agent;
  std::string block;
  std::string name;
};
/// With its doc comment and what is nested in it, but not the edges that lead to it.
struct DeleteBlock {
  std::string agent;
  std::string block;
};
/// Without a value the option is taken away.
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
/// With its comments, and its own edges.
struct MoveBlock {
  std::string agent;
  std::string block;
  Place place;
};
/// Without a block the section is taken away.
struct SetStart {
  std::string agent;
  std::optional<std::string> block;
};
struct SetNextTurn {
  std::string agent;
  std::optional<std::string> mode;
};
/// Bytes for bytes: what `invert` gives. Refused where the text is another one by now.
struct Replace {
  std::size_t offset = 0;
  std::string removed;
  std::string inserted;
};

using Edit = std::variant<AddBlock, Connect, Disconnect, RenameBlock, DeleteBlock, SetOption, SetStatements, MoveBlock,
                          SetStart, SetNextTurn, Replace>;

/// Why edits were refused; nothing was changed then.
struct Refusal {
  std::optional<std::size_t> edit;  ///< its place in the list; none when it is the result of all that would not do
  std::string reason;
};

struct Edited {
  std::string text;
  std::vector<Edit> inverse;  ///< applied to `text` they give the bytes that there were before
};

/// What else a text has to pass: the reason why it does not, or nothing.
using TextCheck = std::function<std::optional<std::string>(std::string_view text)>;

/// Applies all edits one after the other, or none. Outside of what changes each byte is kept. Between the edits a text
/// must only parse; at the end, names must be unique in an agent, every edge must lead to a block of its sequence, and
/// `check` must agree.
[[nodiscard]] Result<Edited, Refusal> apply_edits(std::string_view text, std::span<const Edit> edits,
                                                  const TextCheck& check = nullptr);
/// The edits that undo others on the text that they give.
[[nodiscard]] Result<std::vector<Edit>, Refusal> invert(std::string_view text, std::span<const Edit> edits);

/// The reason why a text is no program whose blocks can be drawn: what the parser says first, a name given twice, an
/// edge to nowhere.
[[nodiscard]] std::optional<std::string> find_graph_problem(std::string_view text);

}  // namespace tenon::graph
