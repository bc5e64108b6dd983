#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "types/check.h"
#include "types/checked_program.h"

namespace tenon::types {

/// Resolves type expressions, within one module at a time. The declarations phase also resolves aliases with it, which
/// may refer to each other; afterwards they are known by Module::aliases.
class TypeResolver {
 public:
  using NodeId = syntax::NodeId;
  using NodeKind = syntax::NodeKind;

  TypeResolver(const CheckedProgram& program, TypeTable& types, diagnostics::Diagnostics& diagnostics,
               Strictness strictness)
      : program_(program), types_(types), diagnostics_(diagnostics), strictness_(strictness) {}

  void enter(ModuleId module);
  void set_self_type(TypeId type) { self_type_ = type; }  ///< within `impl`; absent outside
  void set_type_parameters(const FunctionDeclaration& function);

  void add_alias(ModuleId module, const std::string& name, NodeId item);
  [[nodiscard]] bool has_alias(ModuleId module, const std::string& name) const;
  /// Whether the item is the one that declares the alias of that name.
  [[nodiscard]] bool is_alias(ModuleId module, const std::string& name, NodeId item) const;
  TypeId resolve_alias(ModuleId module, const std::string& name);
  /// The types of the module's aliases, all of which have been resolved.
  [[nodiscard]] std::unordered_map<std::string, TypeId> take_aliases(ModuleId module);

  enum class Enums : std::uint8_t { Included, LeftOut };
  /// The doc comment of the `type` name, or the enum, by which the node calls a type, or the items of a list, a map or
  /// an Option. None for the name of a refinement, a union or a struct: wherever the type is shown, that is shown too.
  [[nodiscard]] std::string documentation_of_name(NodeId type_node, Enums enums);

  std::optional<TypeId> find_type_in(ModuleId module, const std::string& name);
  /// A declared type of that name as seen from the module, or nothing.
  std::optional<TypeId> find_type(const std::string& name);
  /// The same for `Name` or `module::Name`.
  std::optional<TypeId> find_type(std::span<const syntax::TokenIndex> path);
  TypeId resolve_type(NodeId node);
  /// The type, or an error where it has more parts than `type_parts_max`.
  TypeId reject_large_type(TypeId type, NodeId node);
  TypeId resolve_declared_type(NodeId declaration, NodeId type_node);
  /// The type's node without a `trusted` in front of it, where that is allowed; `is_trusted`: whether there is one.
  /// `asks_approval`: whether `else approve` ends it; null where that is not possible, so that it is reported.
  [[nodiscard]] NodeId without_trusted(NodeId type_node, bool& is_trusted, bool* asks_approval = nullptr);
  std::vector<TypeId> resolve_type_arguments(NodeId list);
  void report_context(source::Span span, std::string what);
  /// Reports `type` if it is Context or Tools, and returns whether it is; `what` completes "a `Context` cannot be …".
  /// Neither can be a part of another value, or be passed to native code. All parts of a type go through here, so parts
  /// of parts need no check.
  bool reject_context(TypeId type, NodeId node, std::string what);
  TypeId undeclared_type(NodeId node, const std::string& name);
  /// `shown`: the module as the message calls it.
  void report_not_in_module(source::Span span, ModuleId from, const std::string& shown, const std::string& name);
  /// Reports `type` if it is Tools, and returns whether it is; `what` completes "`Tools` cannot be …".
  bool reject_tools(TypeId type, NodeId node, std::string what);

 private:
  struct AliasItem {
    ModuleId module;
    NodeId item;
  };
  struct Alias {
    NodeId item;
    bool is_in_progress = false;
    std::optional<TypeId> type;
  };

  [[nodiscard]] const syntax::SyntaxTree& tree() const { return *module_->tree; }
  [[nodiscard]] std::string describe(TypeId type) const { return types_.describe_briefly(type); }
  [[nodiscard]] std::vector<std::string_view> type_names_in_scope() const;
  /// The declaration of the alias that the named type means, or nothing.
  [[nodiscard]] std::optional<AliasItem> find_alias_item(NodeId named_type) const;
  [[nodiscard]] std::string documentation_of_enum(NodeId named_type);
  TypeId read_type(NodeId node);
  void report_unused_documentation(NodeId type_node);
  TypeId make_secret(TypeId type, NodeId node);
  TypeId resolve_named_type(NodeId node);
  TypeId resolve_union(NodeId node, const std::string& alias, std::string documentation);
  [[nodiscard]] std::string documentation_of_literal(NodeId literal) const;
  TypeId resolve_refined(NodeId node, const std::string& alias, std::string documentation);
  void apply_range(NodeId constraint, TypeId base, Refinement& refinement);
  void apply_length(NodeId constraint, TypeId base, Refinement& refinement);
  void apply_pattern(NodeId constraint, TypeId base, Refinement& refinement);

  const CheckedProgram& program_;
  TypeTable& types_;
  diagnostics::Diagnostics& diagnostics_;
  Strictness strictness_;
  ModuleId module_id_;
  const Module* module_ = nullptr;
  TypeId self_type_;
  std::vector<std::pair<std::string, TypeId>> type_parameters_;
  std::unordered_map<std::uint32_t, std::unordered_map<std::string, Alias>> open_aliases_;  ///< by module
  std::map<std::pair<std::uint32_t, std::string>, NodeId> alias_items_;  ///< by module and name; also resolved ones
  std::size_t alias_depth_ = 0;  ///< aliases that are being resolved, each for the one before
  std::set<std::pair<std::uint32_t, syntax::TokenIndex>> unused_documentation_;  ///< by module: reported comments
  std::set<std::pair<std::uint32_t, std::string>> text_types_;                   ///< by module: reported ones
};

}  // namespace tenon::types
