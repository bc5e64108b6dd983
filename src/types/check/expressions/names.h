#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// `None` for `null`, `true` for `True`: what is written for a value of other languages.
[[nodiscard]] std::optional<std::string_view> find_foreign_value(std::string_view word);
/// The case of `Option` or `Result` for another language's word: `Some` for `Just`.
[[nodiscard]] std::optional<std::string_view> find_foreign_case(std::string_view word);

/// Looks up the names of a body that are not its own variables.
class BodyNames : public BodyPart {
 public:
  using BodyPart::BodyPart;

  /// How an unknown name is used, which decides the suggestions.
  enum class Use : std::uint8_t { Value, Called, Type };

  void check_agent_access(NodeId call, const FunctionDeclaration& function);
  std::optional<FunctionId> find_function(std::string_view name);
  std::optional<ExternId> find_extern(std::string_view name);
  /// One of the language's own, such as `ask`.
  [[nodiscard]] std::optional<ExternId> find_effect_builtin(std::string_view name) const;
  void reject_notification(NodeId node, ExternId id);
  void check_mutable_receiver(NodeId receiver, std::string_view name);
  /// Whether the name is that of an imported module.
  [[nodiscard]] bool is_module(std::string_view name) const;
  /// `expected`: what the value is needed for.
  void report_unknown_name(NodeId node, std::string_view name, source::Span span, Use use,
                           Expectation expected = Expectation::any());
  /// The function, method or extern that a path names, or a target of kind None.
  Target find_callee(std::span<const syntax::TokenIndex> path);
  void require_own_context(NodeId node, std::string_view what);
  std::optional<AgentId> find_agent(std::span<const syntax::TokenIndex> path);

 private:
  std::vector<std::string> find_cases(std::string_view name, Expectation expected);
  bool hint_self(diagnostics::Diagnostic& report, std::string_view name, source::Span span) const;
  [[nodiscard]] bool has_reported_self() const;
  bool report_path_in_module(NodeId node, std::span<const syntax::TokenIndex> path);
  void reject_state_change(NodeId place, LocalId variable);
  [[nodiscard]] std::string function_name() const;
};

}  // namespace tenon::types
