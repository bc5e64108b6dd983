#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "completion/checked_text.h"
#include "completion/completion.h"

namespace tenon::completion {

/// `(order: Order, count: i32) -> String`, without the context of a function.
[[nodiscard]] std::string signature_of(const types::CheckedProgram& program,
                                       const std::vector<types::Parameter>& parameters, types::TypeId result);

/// Gathers what can be written in place of the name of a checked text.
class Suggestions {
 public:
  explicit Suggestions(CheckedText& text) : text_(text) {}

  [[nodiscard]] std::vector<Suggestion> take();

 private:
  using NodeId = syntax::NodeId;
  using NodeKind = syntax::NodeKind;

  void add(std::string_view label, NameKind kind, std::string detail = "", std::string documentation = "",
           std::string inserted = "");
  void add_words(std::initializer_list<std::string_view> words, NameKind kind = NameKind::Keyword);

  // By what is at the place.
  void add_names_for(NodeId node);
  void add_for_error();
  void add_for_path(NodeId node);
  void add_expression_words();
  void add_option_values(NodeId node);

  // Whole groups.
  void add_names();
  void add_functions(const types::Module& module, bool is_entry);
  void add_agent_functions();
  void add_types();
  void add_members(types::TypeId type);
  void add_fields(types::TypeId type, const std::set<std::string, std::less<>>& without);
  void add_cases(types::TypeId type, std::string_view owner);
  void add_patterns();
  void add_fields_of_struct();
  void add_targets();
  void add_kinds();
  void add_options();
  void add_fields_of_agent();
  void add_module(const types::Module& module);
  void add_agents();

  [[nodiscard]] std::string describe(types::TypeId type) const { return text_.program().types.describe_briefly(type); }
  [[nodiscard]] types::TypeId find_type(const std::string& name) const;
  [[nodiscard]] const types::AgentDeclaration* find_agent(std::string_view name) const;
  [[nodiscard]] bool is_after(syntax::TokenKind kind) const;

  CheckedText& text_;
  std::vector<Suggestion> found_;
};

}  // namespace tenon::completion
