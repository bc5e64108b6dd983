#include "inference/answers/answer_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/ensure.h"
#include "inference/answers/constraints.h"
#include "inference/answers/outline.h"
#include "inference/answers/schema_writer.h"
#include "inference/answers/strict_mode.h"
#include "types/table/type_parts.h"

namespace tenon::inference::answers {
namespace {

/// What OpenAI allows, less the underscore and the digits of the hash.
constexpr std::size_t schema_name_stem_max = 64 - 9;

/// FNV-1a: names are equal exactly for equal schemas, in every process.
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char character : text) hash = (hash ^ static_cast<unsigned char>(character)) * 16777619U;
  return hash;
}

std::string make_schema_name(std::string_view stem, std::string_view schema) {
  std::string name;
  for (const char character : stem.substr(0, schema_name_stem_max)) {
    const bool is_plain = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
                          (character >= '0' && character <= '9') || character == '_' || character == '-';
    name += is_plain ? character : '_';
  }
  return fmt::format("{}_{:08x}", name, hash_of(schema));
}

AnswerClause make_clause(const bytecode::CallShape& call) {
  AnswerClause clause{call.name, {}};
  for (const std::uint16_t hole : call.holes) {
    const std::string& name = call.parameter_names[hole];
    clause.items.push_back({name.empty() ? fmt::format("argument_{}", hole + 1) : name, call.parameters[hole],
                            call.parameter_documentation.empty() ? "" : call.parameter_documentation[hole]});
  }
  return clause;
}

std::shared_ptr<const TextForm> make_text_form(const types::TypeTable& types, types::TypeId type) {
  Constraints constraints = find_constraints(types, type);
  return std::make_shared<const TextForm>(
      TextForm{constraints.length_low, constraints.length_high, std::move(constraints.patterns)});
}

}  // namespace

bool has_number(const AnswerShape& shape, const AnswerClause& clause) {
  const auto is_same = [&](const AnswerClause& other) { return other.function == clause.function; };
  return !shape.is_short || std::count_if(shape.clauses.begin(), shape.clauses.end(), is_same) > 1;
}

bool has_arguments(const AnswerShape& shape, const AnswerClause& clause) {
  return !shape.is_short || !clause.items.empty();
}

AnswerShape make_answer_shape(const bytecode::Program& program, const bytecode::Site& site) {
  const types::TypeTable& types = program.types;
  AnswerShape shape;
  shape.kind = site.kind;
  shape.is_short = site.is_short;
  std::string_view stem;
  switch (site.kind) {
    case bytecode::SiteKind::Completion: {
      ENSURE(!types::find_unanswerable(types, site.result).exists());
      shape.result = site.result;
      const types::TypeKind kind = types.kind(types.base(site.result));
      if (kind == types::TypeKind::String || kind == types::TypeKind::Text) {
        shape.form = AnswerForm::Text;
        if (types.kind(site.result) == types::TypeKind::Refined) {
          shape.outline = make_outline(types, site.result, program.messages);
          shape.text_form = make_text_form(types, site.result);
        }
        return shape;
      }
      shape.wrapping = types::is_answered_under_key(types, site.result) ? Wrapping::Wrapped : Wrapping::Bare;
      stem = program.functions[site.function].name;
      shape.documentation = program.functions[site.function].result_documentation;
      break;
    }
    case bytecode::SiteKind::Fill:
      shape.clauses.push_back(make_clause(site.call));
      stem = site.call.name;
      break;
    case bytecode::SiteKind::Select:
      for (const bytecode::Clause& clause : site.clauses) {
        shape.clauses.push_back(clause.is_else ? AnswerClause{std::string(else_function), {}}
                                               : make_clause(clause.call));
      }
      stem = "select";
      break;
  }
  for (const AnswerClause& clause : shape.clauses) {
    for (const AnswerItem& item : clause.items) ENSURE(!types::find_unanswerable(types, item.type).exists());
  }
  std::string schema = make_schema(types, shape, site);
  std::string name = make_schema_name(stem, schema);
  std::string strict = make_strict_schema(schema).value_or("");
  shape.schema =
      std::make_shared<const AnswerSchema>(AnswerSchema{std::move(name), std::move(schema), std::move(strict)});
  shape.outline = make_outline(types, shape, program.messages);
  return shape;
}

}  // namespace tenon::inference::answers
