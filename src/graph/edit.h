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
/// The two groups of entries of an agent.
enum class Section : std::uint8_t { State, Scratchpad };
/// `state`, `scratchpad`.
[[nodiscard]] std::string_view name_of(Section section);

/// Adds an entry after `after`, or as the last one. A missing section is created.
struct AddField {
  std::string agent;
  Section section = Section::State;
  Setting field;
  std::optional<std::string> after;
};
/// Another type or initial value.
struct SetField {
  std::string agent;
  Section section = Section::State;
  std::string field;
  std::optional<std::string> type, value;
};
/// Renames the entry and all its uses in the agent: `state.NAME`, `scratchpad.NAME`.
struct RenameField {
  std::string agent;
  Section section = Section::State;
  std::string field;
  std::string name;
};
/// Removes the entry, and the section with its last one, but not what uses it.
struct RemoveField {
  std::string agent;
  Section section = Section::State;
  std::string field;
};
/// Without statements, the section is removed.
struct SetInstructions {
  std::string agent;
  std::string statements;
};
/// Replaces the doc comment of the agent; of one of its blocks, entries or functions, where that is given; or of a
/// declaration of the file. An empty text removes it.
struct SetDocumentation {
  std::optional<std::string> agent;
  std::optional<std::string> block;
  std::optional<Section> section;
  std::string field;  ///< of the section
  std::optional<std::string> declaration;
  std::string text;
};
/// Adds an empty branch to a `parallel`, as the last one.
struct AddBranch {
  std::string agent;
  std::string block;
  std::string branch;
};
struct RenameBranch {
  std::string agent;
  std::string block;
  std::string branch;
  std::string name;
};
/// Removes the branch with its blocks.
struct RemoveBranch {
  std::string agent;
  std::string block;
  std::string branch;
};
/// Puts an edge at another position among those of its block that are written like it: clauses among clauses, cases of
/// an `on` among its cases. Comments stay where they are.
struct MoveEdge {
  std::string agent;
  std::string block;
  EdgeKey edge;
  std::optional<std::string> target;
  std::size_t position = 0;
};
/// What a for_each iterates over.
struct SetItem {
  std::string agent;
  std::string block;
  Item item;
};
/// Adds a function, a type, an agent or another declaration to the file, or a function to an agent: after `after`, or
/// as the last one.
struct AddDeclaration {
  std::optional<std::string> agent;
  std::string source;
  std::optional<std::string> after;
};
/// Renames a declaration of the file, or a function of an agent, and all its uses in the file.
struct RenameDeclaration {
  std::optional<std::string> agent;
  std::string declaration;
  std::string name;
};
/// Removes it with its doc comment, but not what uses it.
struct RemoveDeclaration {
  std::optional<std::string> agent;
  std::string declaration;
};
/// Replaces bytes: the edits that `invert` returns. Rejected if the text has changed since.
struct Replace {
  std::size_t offset = 0;
  std::string removed;
  std::string inserted;
};

using Edit = std::variant<AddBlock, Connect, Disconnect, RenameBlock, DeleteBlock, SetOption, SetStatements, MoveBlock,
                          SetStart, SetNextTurn, AddField, SetField, RenameField, RemoveField, SetInstructions,
                          SetDocumentation, AddBranch, RenameBranch, RemoveBranch, MoveEdge, SetItem, AddDeclaration,
                          RenameDeclaration, RemoveDeclaration, Replace>;

/// Why edits were rejected; nothing was changed.
struct Refusal {
  std::optional<std::size_t> edit;  ///< its index in the list; none if the result of all edits is rejected
  std::string reason;
  /// The text without the edits that were not made; it may have the syntax error that is the reason.
  std::string text = {};
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
