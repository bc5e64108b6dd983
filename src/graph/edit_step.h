#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/edit.h"
#include "graph/patches.h"

namespace tenon::graph {

/// The input of an edit: a text without syntax errors, its tree and its graph.
struct EditedText {
  const syntax::SyntaxTree& tree;
  const Graph& graph;
};

/// The changes of one edit, or why it is not possible. Internal to this folder; others call `apply_edits`.
using Change = Result<std::vector<Patch>, std::string>;

[[nodiscard]] Change change(const EditedText& text, const AddBlock& edit);
[[nodiscard]] Change change(const EditedText& text, const Connect& edit);
[[nodiscard]] Change change(const EditedText& text, const Disconnect& edit);
[[nodiscard]] Change change(const EditedText& text, const RenameBlock& edit);
[[nodiscard]] Change change(const EditedText& text, const DeleteBlock& edit);
[[nodiscard]] Change change(const EditedText& text, const SetOption& edit);
[[nodiscard]] Change change(const EditedText& text, const SetStatements& edit);
[[nodiscard]] Change change(const EditedText& text, const SetStart& edit);
[[nodiscard]] Change change(const EditedText& text, const SetNextTurn& edit);
[[nodiscard]] Change change(const EditedText& text, const AddField& edit);
[[nodiscard]] Change change(const EditedText& text, const SetField& edit);
[[nodiscard]] Change change(const EditedText& text, const RenameField& edit);
[[nodiscard]] Change change(const EditedText& text, const RemoveField& edit);
[[nodiscard]] Change change(const EditedText& text, const SetInstructions& edit);
[[nodiscard]] Change change(const EditedText& text, const SetDocumentation& edit);
[[nodiscard]] Change change(const EditedText& text, const AddBranch& edit);
[[nodiscard]] Change change(const EditedText& text, const RenameBranch& edit);
[[nodiscard]] Change change(const EditedText& text, const RemoveBranch& edit);
[[nodiscard]] Change change(const EditedText& text, const MoveEdge& edit);
[[nodiscard]] Change change(const EditedText& text, const SetItem& edit);
[[nodiscard]] Change change(const EditedText& text, const AddDeclaration& edit);
[[nodiscard]] Change change(const EditedText& text, const RenameDeclaration& edit);
[[nodiscard]] Change change(const EditedText& text, const RemoveDeclaration& edit);
[[nodiscard]] Change change(const EditedText& text, const Replace& edit);
/// The second half of a MoveBlock, after a DeleteBlock: `source` is the block's text without indentation.
[[nodiscard]] Change insert_block(const EditedText& text, std::string_view agent, const Place& place,
                                  std::string_view source);
/// The first half: returns the text for `insert_block`.
[[nodiscard]] Result<std::string, std::string> block_source(const EditedText& text, std::string_view agent,
                                                            std::string_view block);

/// Finds what an edit names, or fails with the reason.
[[nodiscard]] Result<const Agent*, std::string> get_agent(const EditedText& text, std::string_view agent);
[[nodiscard]] Result<const Block*, std::string> get_block(const EditedText& text, std::string_view agent,
                                                          std::string_view path);
/// A declaration of the file, or a function of the agent.
[[nodiscard]] Result<const Declaration*, std::string> get_declaration(const EditedText& text,
                                                                      const std::optional<std::string>& agent,
                                                                      std::string_view name);
/// The last child of one of these kinds; it may be absent.
[[nodiscard]] syntax::NodeId last_of(const syntax::SyntaxTree& tree, syntax::NodeId parent,
                                     std::initializer_list<syntax::NodeKind> kinds);
/// Whether an edge is the one of the key: a `to` that of the target.
[[nodiscard]] const Edge* find_edge(const Block& block, const EdgeKey& key, const std::optional<std::string>& target);
/// Whether a text can be the name of a block.
[[nodiscard]] bool is_name(std::string_view text);

}  // namespace tenon::graph
