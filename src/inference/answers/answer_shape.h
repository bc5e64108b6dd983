#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bytecode/program.h"
#include "inference/model.h"
#include "types/table/type_table.h"

/// What the model is asked to answer at each call site of a program, and how its answers are read.
/// docs/internals/answers.md has the JSON of each type.
namespace tenon::inference::answers {

enum class AnswerForm : std::uint8_t {
  Text,  ///< prose: the text is the value
  Json,  ///< an object that satisfies the schema
};

/// Whether a completion's object is the value itself, or has it under the key `value`.
enum class Wrapping : std::uint8_t { Bare, Wrapped };

/// One missing argument.
struct AnswerItem {
  std::string key;
  types::TypeId type;
  std::string documentation = {};  ///< of the parameter
};

/// One call whose missing arguments the model supplies. Without a function: the `else` of a select.
struct AnswerClause {
  std::string function;
  std::vector<AnswerItem> items;
};

/// What an answer at one site must look like. Made once for a site.
struct AnswerShape {
  bytecode::SiteKind kind = bytecode::SiteKind::Completion;
  AnswerForm form = AnswerForm::Json;
  Wrapping wrapping = Wrapping::Bare;
  bool is_short = false;                       ///< Select: as Site::is_short
  types::TypeId result;                        ///< Completion
  std::string documentation = {};              ///< Completion: of the name that the result's type is written with
  std::vector<AnswerClause> clauses;           ///< Fill: one. Select: all, in order
  std::shared_ptr<const AnswerSchema> schema;  ///< none for text
  std::shared_ptr<const TextForm> text_form;   ///< of text with refinements; else none
  std::string outline;  ///< the same for people and small models, see make_outline; empty for text without refinements
};

/// What a call has besides the function's name: the clause's number if the name alone is ambiguous, the arguments if
/// some are missing. In the long form always both.
[[nodiscard]] bool has_number(const AnswerShape& shape, const AnswerClause& clause);
[[nodiscard]] bool has_arguments(const AnswerShape& shape, const AnswerClause& clause);

/// Every type in the site is one that a model can give (see types::find_unanswerable).
[[nodiscard]] AnswerShape make_answer_shape(const bytecode::Program& program, const bytecode::Site& site);

/// What the key of a select's else clause is.
inline constexpr std::string_view else_function = "else";

}  // namespace tenon::inference::answers
