#include "protocol/run_values.h"

#include <algorithm>

#include "bytecode/agents.h"
#include "bytecode/tool_sets.h"
#include "effects/value_form.h"
#include "inference/answers/schema_writer.h"
#include "json/reader.h"
#include "runtime/program_image.h"
#include "types/table/type_parts.h"
#include "vm/values/render.h"

namespace tenon::protocol {
namespace {

using bytecode::CallShape;
using bytecode::Program;
using effects::EffectKind;
using types::BuiltinEffect;
using types::TypeId;
using types::TypeKind;
using types::TypeTable;

std::optional<std::string> plain(const Json& value, TypeId type, const TypeTable& types) {
  const auto read = effects::convert_value(value, type, types);
  std::string text;
  if (!read || !vm::to_json(*read, types, text)) return std::nullopt;
  return text;
}

/// The array with each item as its type says. Nothing if the numbers differ or, for `needs_all`, if an item does not
/// fit; otherwise such an item stays as it is.
std::optional<std::string> plain_list(const Json& list, const std::vector<TypeId>& types_of, const TypeTable& types,
                                      bool needs_all) {
  if (!list.is_array() || list.size() != types_of.size()) return std::nullopt;
  std::string text = "[";
  for (std::size_t at = 0; at < types_of.size(); ++at) {
    if (at > 0) text += ',';
    const Json& item = list.items()[at];
    auto written = plain(item, types_of[at], types);
    if (!written && needs_all) return std::nullopt;
    text += written ? *written : item.dump();
  }
  return text + ']';
}

std::vector<TypeId> holes_of(const CallShape& call) {
  std::vector<TypeId> types;
  for (const std::uint16_t hole : call.holes) types.push_back(call.parameters[hole]);
  return types;
}

bool makes(BuiltinEffect effect, EffectKind kind) {
  switch (kind) {
    case EffectKind::Extern:
      return effect == BuiltinEffect::Native;
    case EffectKind::Ask:
      return types::asks_person(effect);
    case EffectKind::Now:
      return effect == BuiltinEffect::Now;
    case EffectKind::Random:
      return effect == BuiltinEffect::Random;
    case EffectKind::Sleep:
      return effect == BuiltinEffect::Sleep;
    default:
      return false;
  }
}

/// Keeps those that fit, unless none does.
template <class Fits>
void narrow(std::vector<std::uint32_t>& makers, const Fits& fits) {
  if (makers.size() < 2 || std::ranges::none_of(makers, fits)) return;
  std::erase_if(makers, [&](std::uint32_t at) { return !fits(at); });
}

/// The result type of the agent or function with that name.
std::optional<TypeId> find_result(const Program& program, std::string_view name) {
  if (const auto agent = bytecode::find_agent(program, name)) {
    return program.functions[program.agents[*agent].turn].result;
  }
  const auto function = runtime::find_function(program, name);
  return function ? std::optional(program.functions[*function].result) : std::nullopt;
}

/// Whether an injection may show a value of the type as something else than JSON.
bool is_shown_raw(TypeId type, const TypeTable& types) {
  const TypeId base = types.base(type);
  const TypeKind kind = types.kind(base);
  if (kind == TypeKind::Option) return is_shown_raw(types.get(base).arguments[0], types);
  return types::is_text(types, base) || kind == TypeKind::Secret || !types::can_leave_run(kind);
}

/// The value of a JSON text; anything else as a string.
Json parse_or_quote(const std::string& text) {
  auto json = parse_json(text, own_json_limits);
  return json ? std::move(*json) : Json(text);
}

Json parse_passed(const std::string& shown, TypeId type, const TypeTable& types) {
  if (is_shown_raw(type, types)) return Json(shown);
  return shown.empty() ? Json() : parse_or_quote(shown);  // () is shown as nothing
}

}  // namespace

void RunValues::use(std::shared_ptr<const vm::LoadedProgram> program) {
  if (program != program_) open_.clear();  // of another program's indices
  program_ = std::move(program);
}

RunValues::Makers RunValues::makers_of(EffectKind kind, std::string_view subject) const {
  Makers found;
  if (program_ == nullptr) return found;
  if (!effects::is_generation(kind)) {
    for (std::uint32_t at = 0; at < program().externs.size(); ++at) {
      const bytecode::Extern& one = program().externs[at];
      if (makes(one.builtin_effect, kind) && one.name == subject) found.push_back(at);
    }
    return found;
  }
  for (std::uint32_t at = 0; at < program().sites.size(); ++at) {
    const bytecode::Site& site = program().sites[at];
    bool fits = false;
    switch (site.kind) {
      case bytecode::SiteKind::Completion:
        fits = kind == EffectKind::Complete && program().functions[site.function].name == subject;
        break;
      case bytecode::SiteKind::Fill:
        fits = kind == EffectKind::Fill && site.call.name == subject;
        break;
      case bytecode::SiteKind::Select:
        fits = kind == EffectKind::Select;
        break;
    }
    if (fits) found.push_back(at);
  }
  return found;
}

RunValues::Makers RunValues::makers_of(const effects::Requested& requested, const Contents& contents) const {
  Makers found = makers_of(requested.kind, requested.subject);
  if (effects::is_generation(requested.kind)) {
    narrow(found, [&](std::uint32_t at) { return program_->describe(program().sites[at].place) == requested.place; });
  } else if (requested.kind == EffectKind::Ask && found.size() > 1) {
    const auto schema = requested.form.hash ? contents(requested.form) : std::optional(requested.form.text);
    narrow(found, [&](std::uint32_t at) {
      const TypeId answer = program().externs[at].result;
      // Older journals have the schema that models are sent, which lacks the numbers of most digits.
      return schema && (*schema == inference::answers::make_question_schema(program().types, answer) ||
                        *schema == inference::answers::make_schema(program().types, answer));
    });
  }
  return found;
}

void RunValues::follow(const effects::Record& record, const Contents& contents) {
  if (const auto* const requested = std::get_if<effects::Requested>(&record.body)) {
    const bool is_ambiguous = effects::is_generation(requested->kind) || requested->kind == EffectKind::Ask;
    if (program_ != nullptr && is_ambiguous) open_.insert_or_assign(requested->key, makers_of(*requested, contents));
  } else if (const auto* const finished = std::get_if<effects::Finished>(&record.body)) {
    if (const auto found = open_.find(finished->key); found != open_.end()) open_.erase(found);
  } else if (const auto* const paused = std::get_if<effects::Paused>(&record.body)) {
    asked_.insert_or_assign(paused->key, paused->why == effects::Paused::Why::CutOff);
  } else if (const auto* const continued = std::get_if<effects::Continued>(&record.body)) {
    if (const auto found = asked_.find(continued->key); found != asked_.end()) asked_.erase(found);
  } else if (std::holds_alternative<effects::TurnEnded>(record.body)) {
    open_.clear();  // of a cancelled turn, requests stay without an outcome
    asked_.clear();
  }
}

bool RunValues::misses_request(const effects::Record& record) const {
  if (const auto* const continued = std::get_if<effects::Continued>(&record.body)) {
    return !asked_.contains(continued->key);
  }
  const auto* const finished = std::get_if<effects::Finished>(&record.body);
  if (finished == nullptr || finished->failure || finished->prompted || open_.contains(finished->key)) return false;
  return promised_types(*finished, makers_of(finished->kind, finished->subject)).size() > 1;
}

/// The types of the outcome, each combination once: of one value, or of the list of a Fill or Select.
std::vector<std::vector<TypeId>> RunValues::promised_types(const effects::Finished& finished,
                                                           const Makers& makers) const {
  std::vector<std::vector<TypeId>> found;
  const auto add = [&](std::vector<TypeId> types) {
    if (std::ranges::find(found, types) == found.end()) found.push_back(std::move(types));
  };
  if (program_ == nullptr) return found;
  if (finished.kind == EffectKind::Select && !finished.tool.empty()) {
    for (const bytecode::Tool& tool : program().tools) {
      if (tool.call.name == finished.tool) add(holes_of(tool.call));
    }
    return found;
  }
  for (const std::uint32_t at : makers) {
    if (!effects::is_generation(finished.kind)) {
      add({program().externs[at].result});
      continue;
    }
    const bytecode::Site& site = program().sites[at];
    if (site.kind == bytecode::SiteKind::Completion) {
      add({site.result});
    } else if (site.kind == bytecode::SiteKind::Fill) {
      add(holes_of(site.call));
    } else if (bytecode::count_sets(site) == 0) {
      if (finished.clause < site.clauses.size()) add(holes_of(site.clauses[finished.clause].call));
    } else {
      // A set counts as many clauses as it has tools, which only the run knows.
      for (const bytecode::Clause& clause : site.clauses) {
        if (!clause.is_set) add(holes_of(clause.call));
      }
    }
  }
  return found;
}

std::string RunValues::start_arguments(std::string_view function, std::string text) const {
  const auto found = program_ == nullptr ? std::nullopt : runtime::find_function(program(), function);
  if (!found) return text;
  auto written = plain_list(parse_own_json(text), program().functions[*found].parameters, program().types, false);
  return written ? std::move(*written) : text;
}

std::string RunValues::call_arguments(const effects::Requested& requested, std::string text) const {
  for (const std::uint32_t at : makers_of(requested.kind, requested.subject)) {
    auto written = plain_list(parse_own_json(text), program().externs[at].parameters, program().types, false);
    if (written) return std::move(*written);
  }
  return text;
}

std::string RunValues::outcome(const effects::Finished& finished, std::string text) const {
  if (program_ == nullptr) return text;
  const auto known = open_.find(finished.key);
  const Makers makers = known == open_.end() ? makers_of(finished.kind, finished.subject) : known->second;
  const bool is_list = finished.kind == EffectKind::Fill || finished.kind == EffectKind::Select;
  const Json value = parse_own_json(text);
  std::optional<std::string> found;
  for (const std::vector<TypeId>& promised : promised_types(finished, makers)) {
    auto written =
        is_list ? plain_list(value, promised, program().types, true) : plain(value, promised.front(), program().types);
    if (!written) continue;
    if (found && *found != *written) return text;
    found = std::move(written);
  }
  return found ? std::move(*found) : text;
}

std::string RunValues::turn_value(std::string_view name, std::string text) const {
  const auto type = program_ == nullptr ? std::nullopt : find_result(program(), name);
  auto written = type ? plain(parse_own_json(text), *type, program().types) : std::nullopt;
  return written ? std::move(*written) : text;
}

std::string RunValues::entries(std::string_view agent, std::string text) const {
  const auto found = program_ == nullptr ? std::nullopt : bytecode::find_agent(program(), agent);
  if (!found) return text;
  const TypeTable& types = program().types;
  const TypeId state = types.base(program().agents[*found].state);
  const Json given = parse_own_json(text);
  if (types.kind(state) != TypeKind::Struct || !given.is_object()) return text;
  Json shown = Json::object();
  for (const types::Field& declared : types.struct_type(state).fields) {
    const Json* const value = given.find(declared.name);
    if (value == nullptr) continue;
    const auto written = plain(*value, declared.type, types);
    shown.set(declared.name, written ? parse_own_json(*written) : *value);
  }
  for (const auto& [name, value] : given.members()) {
    if (!shown.contains(name)) shown.set(name, value);
  }
  return shown.dump();
}

Json RunValues::turn_input(std::string_view agent, const std::string& sent) const {
  const auto found = program_ == nullptr ? std::nullopt : bytecode::find_agent(program(), agent);
  if (!found) return Json(sent);
  const TypeId type = program().types.base(bytecode::prompt_type(program(), program().agents[*found]));
  return types::is_text(program().types, type) ? Json(sent) : parse_or_quote(sent);
}

Json RunValues::passed_input(std::string_view agent, const std::string& shown) const {
  const auto found = program_ == nullptr ? std::nullopt : bytecode::find_agent(program(), agent);
  if (!found) return Json(shown);
  return parse_passed(shown, bytecode::prompt_type(program(), program().agents[*found]), program().types);
}

Json RunValues::passed_value(std::string_view agent, const std::string& shown) const {
  const auto type = program_ == nullptr ? std::nullopt : find_result(program(), agent);
  return type ? parse_passed(shown, *type, program().types) : Json(shown);
}

bool RunValues::is_decision(const effects::Continued& continued) const {
  const auto found = asked_.find(continued.key);
  return found != asked_.end() && found->second;
}

}  // namespace tenon::protocol
