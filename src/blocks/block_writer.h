#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blocks/lowered_text.h"
#include "blocks/model.h"

namespace tenon::blocks {

/// Writes what all kinds of blocks need: copies of the source with generated text around them (glue), functions and
/// their calls, and where a block's value goes. Internal to this folder.
class BlockWriter {
 protected:
  using NodeId = syntax::NodeId;
  using NodeKind = syntax::NodeKind;
  using Names = LoweredText::Names;

  /// Where a block's value goes; without a place, it is the answer to the user.
  struct Destination {
    NodeId place;
    NodeId type;               ///< of the value; absent if the place is only a part of a field
    bool is_optional = false;  ///< the field is an Option of `type`
  };
  /// Whether the delivered value has the destination's type, or that of the call, which can be an Option.
  enum class Given : std::uint8_t { OfType, ByCall };

  BlockWriter(const syntax::SyntaxTree& tree, const BlockAgent& agent, LoweredText& out)
      : tree_(tree), agent_(agent), out_(out) {}

  void glue(std::string_view text) { out_.glue(text); }
  void copy(NodeId node, Names names = Names::Agent) { out_.copy(node, names); }
  /// The node's text, or `fallback` if there is no node.
  void copy_or(NodeId node, std::string_view fallback);
  /// A statement that injects the text, if there is one.
  void inject(NodeId text);
  void next(const Block& block);
  void documentation(NodeId node);
  [[nodiscard]] bool is_name_taken(const Block& block) const;
  /// The name of the block's function, or of the one for a part of it: `sort_choice`.
  void function_name(const Block& block, std::string_view suffix);
  /// `fn NAME(ctx: Context, input: String, …)`, without result and body.
  void function_head(const Block& block, std::string_view suffix = "", std::string_view parameters = "");
  /// `NAME(ctx, input, …)`.
  void function_call(const Block& block, std::string_view suffix = "", std::string_view arguments = "");
  void variables_as_parameters();
  void variables_as_arguments();
  /// The block's value goes to its destination: `begin_deliver`, the value, `end_deliver`.
  void begin_deliver(const Destination& destination, Given given);
  void end_deliver();
  void type_of(const Destination& destination);
  [[nodiscard]] Destination destination(const Block& block) const;
  /// Absent if it is missing or unusable, which the check reports.
  [[nodiscard]] NodeId option(const Block& block, std::string_view name) const {
    const NodeId value = find_option(tree_, block, name);
    return value.exists() && has_usable_form(tree_, value, name) ? value : NodeId{};
  }

  const syntax::SyntaxTree& tree_;
  const BlockAgent& agent_;
  LoweredText& out_;
  std::vector<NodeId> items_;  ///< the ItemClauses of the enclosing for_each blocks
};

/// `T` of `List<T>`; absent for other types.
[[nodiscard]] syntax::NodeId item_type(const syntax::SyntaxTree& tree, syntax::NodeId type);
/// A text as a string literal.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace tenon::blocks
