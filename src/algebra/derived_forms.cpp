#include "algebra/derived_forms.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "algebra/form.h"
#include "algebra/matrices.h"
#include "base/counted.h"
#include "base/utf8.h"
#include "bytecode/program.h"
#include "effects/value_form.h"
#include "json/reader.h"
#include "vm/values/render.h"

namespace tenon::algebra {
namespace {

template <class Items, class Write>
std::string list(const Items& items, Write write) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += write(item);
  }
  return text + ']';
}

std::string shown(std::uint32_t number) {
  return std::to_string(number);
}
std::string shown(std::uint8_t number) {
  return std::to_string(number);
}
std::string shown(const std::string& json) {
  return json;
}

template <class T>
std::string write_matrix(const Matrix<T>& matrix) {
  std::string text = "[";
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    text += row > 0 ? ",[" : "[";
    for (std::size_t column = 0; column < matrix.columns(); ++column) {
      if (column > 0) text += ',';
      text += shown(matrix.at(row, column));
    }
    text += ']';
  }
  return text + ']';
}

/// Limit for one line of the terminal.
constexpr std::size_t shown_bytes_max = 160;

std::string shortened(std::string text) {
  if (text.size() <= shown_bytes_max) return text;
  return std::string(cut_utf8(text, shown_bytes_max)) + "…";
}

/// A value as people write it: in a program's arguments, as an answer, in `--input`. Where its type is not known, and
/// where it contains a Context, as it is on record.
std::string in_plain_form(const std::string& recorded, std::optional<types::TypeId> type,
                          const runtime::ProgramImage* image) {
  if (!type || image == nullptr || recorded.empty() || recorded == "null") return recorded;
  const types::TypeTable& types = image->program().types;
  const auto value = effects::read_value(recorded, *type, types, effects::SecretForm::Named);
  std::string text;
  return value && vm::to_json(*value, types, text) ? text : recorded;
}

/// Draws one run.
class Drawing {
 public:
  explicit Drawing(const Interaction& interaction)
      : artifacts_(interaction.artifacts),
        records_(interaction.records),
        origins_(interaction.origins),
        types_(interaction.types) {
    std::vector<std::size_t> open;
    std::size_t ended = 0;
    for (const std::string& line : interaction.events) {
      const Json event = parse_own_json(line);
      const std::string kind = event.text_or("event", "");
      if (kind == "call" || kind == "handoff") {
        open.push_back(depths_.size());
        depths_.push_back(open.size() - 1);
      } else if (kind == "result") {
        ended = open.back();
        open.pop_back();
      } else if (kind == "refused") {
        refusals_.emplace(ended, event.text_or("reasons", ""));
      }
    }
  }

  std::string draw() {
    std::size_t call = 0;
    for (std::size_t cycle = 0; cycle < artifacts_.h.size(); ++cycle) {
      const Cycle& turn = artifacts_.h[cycle];
      image_ = cycle < types_.programs.size() ? types_.programs[cycle].get() : nullptr;
      const CallTypes types = cycle < types_.cycles.size() ? types_.cycles[cycle] : CallTypes{};
      out_ += turn.agent.empty() ? fmt::format("{}{}\n", turn.function, shortened(shown_start(turn.arguments, types)))
                                 : fmt::format("{} < {}\n", turn.agent, shortened(turn.input));
      for (const Choice& choice : artifacts_.sigma[cycle]) draw_call(choice, call++);
      out_ += fmt::format("= {}{}\n", shown_result(turn.result, types), shown_record(records_.cycles, cycle));
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string shown_argument(const std::string& recorded, const CallTypes& types, std::size_t at) const {
    const bool is_known = types.parameters != nullptr && at < types.parameters->size();
    return in_plain_form(recorded, is_known ? std::optional((*types.parameters)[at]) : std::nullopt, image_);
  }

  /// The arguments of the run's function. `arguments`: an array.
  [[nodiscard]] std::string shown_start(const std::string& arguments, const CallTypes& types) const {
    const Json list = parse_own_json(arguments);
    std::string text;
    for (std::size_t at = 0; at < list.size(); ++at) {
      // As it is on record: a Number like an integer.
      text += (text.empty() ? "" : ",") + shown_argument(list.items_or_none()[at].dump(JsonForm::Shortest), types, at);
    }
    return list.is_array() ? '[' + text + ']' : arguments;
  }

  [[nodiscard]] std::string shown_result(const CallResult& result, const CallTypes& types) const {
    if (const auto* const value = std::get_if<std::string>(&result)) {
      return shortened(in_plain_form(*value, types.result, image_));
    }
    if (const auto* const failed = std::get_if<Failed>(&result)) {
      return shortened(fmt::format("{}: {}", types::failure_kind_name(failed->kind), failed->message));
    }
    if (const auto* const prompt = std::get_if<effects::AgentPrompt>(&result)) {
      return shortened(fmt::format("prompt of {}: {}", prompt->agent, prompt->input));
    }
    return std::holds_alternative<Pending>(result) ? "…" : "discarded";
  }

  /// The number that `tenon fork --at` takes.
  static std::string shown_record(const std::vector<std::uint64_t>& numbers, std::size_t at) {
    return at < numbers.size() && numbers[at] > 0 ? fmt::format("  [{}]", numbers[at]) : std::string();
  }

  static std::string shown_origin(const std::string& origin) {
    return origin.empty() ? std::string() : fmt::format(" {{{}}}", origin);
  }

  void draw_call(const Choice& choice, std::size_t call) {
    const Query& query = artifacts_.q[call];
    const std::string indent(2 + 2 * depths_[call], ' ');
    const CallTypes types = call < types_.calls.size() ? types_.calls[call] : CallTypes{};
    std::string arguments;
    for (std::size_t at = 0; at < query.arguments.size(); ++at) {
      const std::string& value = query.arguments[at];
      const bool is_context = value.starts_with(R"({"context":)");
      arguments += (arguments.empty() ? "" : ", ") + (value.empty() ? "?"
                                                      : is_context  ? "ctx"
                                                                    : shown_argument(value, types, at));
    }
    const Tool& tool = artifacts_.tools[choice.tool];
    const std::string record = shown_record(records_.calls, call);
    if (tool.kind == ToolKind::Action) {
      out_ += fmt::format("{}{} chosen: {}{}\n", indent, choice.at, tool.name, record);
    } else {
      const CallOrigin origin = call < origins_.size() ? origins_[call] : CallOrigin();
      out_ += fmt::format("{}{} {}({}){} = {}{}{}\n", indent, choice.at, tool.name, shortened(std::move(arguments)),
                          shown_origin(origin.arguments), shown_result(artifacts_.r[call], types),
                          shown_origin(origin.result), record);
    }
    if (const auto refused = refusals_.find(call); refused != refusals_.end()) {
      out_ += fmt::format("{}  refused: {}\n", indent, shortened(refused->second));
    }
    for (const Hash& context : query.contexts) draw_context(context, indent + "  ");
  }

  void draw_context(const Hash& newest, const std::string& indent) {
    std::vector<const ContextEntry*> fresh;
    std::size_t known = 0;
    Hash at = newest;
    for (auto found = artifacts_.contexts.find(at); found != artifacts_.contexts.end();
         found = artifacts_.contexts.find(at)) {
      if (known > 0 || !drawn_.insert(at).second) {
        ++known;
      } else {
        fresh.push_back(&found->second);
      }
      at = found->second.parent;
    }
    if (known > 0) out_ += fmt::format("{}| ({} above)\n", indent, counted(known, "entry", "entries"));
    for (auto entry = fresh.rbegin(); entry != fresh.rend(); ++entry) draw_entry(**entry, indent);
  }

  /// The role of an entry that the program did not inject.
  static std::string_view speaker(std::uint8_t role) {
    switch (static_cast<bytecode::EntryRole>(role)) {
      case bytecode::EntryRole::Instructions:
        return "[instructions] ";
      case bytecode::EntryRole::Person:
        return "[person] ";
      case bytecode::EntryRole::Assistant:
        return "[assistant] ";
      case bytecode::EntryRole::Requirement:
        return "[requirement] ";
      case bytecode::EntryRole::Refusal:
        return "[refusal] ";
      case bytecode::EntryRole::Data:
        break;
    }
    return "";
  }

  void draw_entry(const ContextEntry& entry, const std::string& indent) {
    if (entry.text.empty() && static_cast<bytecode::EntryRole>(entry.role) == bytecode::EntryRole::Refusal) return;
    std::string_view text = entry.text;
    std::string_view before = speaker(entry.role);
    for (;;) {
      const std::size_t end = text.find('\n');
      out_ += fmt::format("{}| {}{}\n", indent, std::exchange(before, ""), shortened(std::string(text.substr(0, end))));
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }

  const Artifacts& artifacts_;
  const RecordNumbers& records_;
  const std::vector<CallOrigin>& origins_;
  const ValueTypes& types_;
  const runtime::ProgramImage* image_ = nullptr;  ///< of the cycle that is drawn; null if it is not known
  std::vector<std::size_t> depths_;               ///< of each call: the number of enclosing calls
  std::map<std::size_t, std::string> refusals_;   ///< by call: why the answer violates a contract
  std::set<Hash> drawn_;
  std::string out_;
};

}  // namespace

std::string write_form(const Artifacts& artifacts, const std::string& form) {
  const Selection selection = selection_of(artifacts);
  const std::size_t tools = artifacts.tools.size();
  const auto number = [](std::uint32_t value) { return std::to_string(value); };
  const std::string nothing = "null";
  std::vector<std::string> queries, results;
  for (const Query& query : artifacts.q) queries.push_back(write_query(query));
  for (const CallResult& result : artifacts.r) results.push_back(write_call_result(result));
  if (form == "m") return list(row_counts(selection), number);
  if (form == "mu") return number(row_count_max(selection));
  if (form == "J") return list(call_sequence(selection), number);
  if (form == "S") return write_matrix(selection_mask(selection, tools));
  if (form == "Sigma") return list(selection_tensor(selection, tools), write_matrix<std::uint8_t>);
  if (form == "sigma") return write_matrix(tool_indices(selection));
  if (form == "theta") return write_matrix(arrange(selection, queries, nothing));
  if (form == "rho") return write_matrix(arrange(selection, results, nothing));
  if (form == "R") return write_matrix(result_matrix(selection, tools, results, nothing));
  return write_form(artifacts);
}

std::string draw_calls(const Interaction& interaction) {
  return Drawing(interaction).draw();
}

}  // namespace tenon::algebra
