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

/// A Context among arguments.
constexpr std::string_view context_begin = R"({"context":)";

/// Writes the values of one cycle's program as people do.
class PlainValues {
 public:
  /// `image`: null if the program is not known.
  PlainValues(const runtime::ProgramImage* image, CallTypes types) : image_(image), types_(types) {}

  [[nodiscard]] std::string argument(const std::string& recorded, std::size_t at) const {
    const bool is_known = types_.parameters != nullptr && at < types_.parameters->size();
    return value(recorded, is_known ? std::optional((*types_.parameters)[at]) : std::nullopt);
  }

  /// The arguments of the run's function. `recorded`: an array.
  [[nodiscard]] std::string arguments(const std::string& recorded) const {
    const Json list = parse_own_json(recorded);
    if (!list.is_array()) return recorded;
    std::string text = "[";
    for (std::size_t at = 0; at < list.size(); ++at) {
      // As it is on record: a Number like an integer.
      text += (at == 0 ? "" : ",") + argument(list.items_or_none()[at].dump(JsonForm::Shortest), at);
    }
    return text + ']';
  }

  [[nodiscard]] CallResult result(const CallResult& recorded) const {
    const auto* const text = std::get_if<std::string>(&recorded);
    return text == nullptr ? recorded : CallResult(value(*text, types_.result));
  }

 private:
  [[nodiscard]] std::string value(const std::string& recorded, std::optional<types::TypeId> type) const {
    const bool is_context = recorded.starts_with(context_begin);
    if (!type || image_ == nullptr || recorded.empty() || recorded == "null" || is_context) return recorded;
    const types::TypeTable& types = image_->program().types;
    const auto read = effects::read_value(recorded, *type, types, effects::SecretForm::Named);
    std::string text;
    return read && vm::to_json(*read, types, text) ? text : recorded;
  }

  const runtime::ProgramImage* image_;
  CallTypes types_;
};

/// Draws one run.
class Drawing {
 public:
  explicit Drawing(const Interaction& interaction)
      : artifacts_(in_plain_form(interaction)), records_(interaction.records), origins_(interaction.origins) {
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
      out_ += turn.agent.empty() ? fmt::format("{}{}\n", turn.function, shortened(turn.arguments))
                                 : fmt::format("{} < {}\n", turn.agent, shortened(turn.input));
      for (const Choice& choice : artifacts_.sigma[cycle]) draw_call(choice, call++);
      out_ += fmt::format("= {}{}\n", shown_result(turn.result), shown_record(records_.cycles, cycle));
    }
    return std::move(out_);
  }

 private:
  static std::string shown_result(const CallResult& result) {
    if (const auto* const value = std::get_if<std::string>(&result)) return shortened(*value);
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
    std::string arguments;
    for (const std::string& value : query.arguments) {
      const bool is_context = value.starts_with(context_begin);
      arguments += (arguments.empty() ? "" : ", ") + (value.empty() ? "?" : is_context ? "ctx" : value);
    }
    const Tool& tool = artifacts_.tools[choice.tool];
    const std::string record = shown_record(records_.calls, call);
    if (tool.kind == ToolKind::Action) {
      out_ += fmt::format("{}{} chosen: {}{}\n", indent, choice.at, tool.name, record);
    } else {
      const CallOrigin origin = call < origins_.size() ? origins_[call] : CallOrigin();
      out_ += fmt::format("{}{} {}({}){} = {}{}{}\n", indent, choice.at, tool.name, shortened(std::move(arguments)),
                          shown_origin(origin.arguments), shown_result(artifacts_.r[call]), shown_origin(origin.result),
                          record);
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

  const Artifacts artifacts_;
  const RecordNumbers& records_;
  const std::vector<CallOrigin>& origins_;
  std::vector<std::size_t> depths_;              ///< of each call: the number of enclosing calls
  std::map<std::size_t, std::string> refusals_;  ///< by call: why the answer violates a contract
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

Artifacts in_plain_form(const Interaction& interaction) {
  Artifacts plain = interaction.artifacts;
  const ValueTypes& types = interaction.types;
  std::size_t call = 0;
  for (std::size_t at = 0; at < plain.h.size(); ++at) {
    const runtime::ProgramImage* const image = at < types.programs.size() ? types.programs[at].get() : nullptr;
    const PlainValues of_cycle(image, at < types.cycles.size() ? types.cycles[at] : CallTypes{});
    Cycle& cycle = plain.h[at];
    cycle.arguments = of_cycle.arguments(cycle.arguments);
    cycle.result = of_cycle.result(cycle.result);
    for (const std::size_t end = call + plain.sigma[at].size(); call < end; ++call) {
      const PlainValues of_call(image, call < types.calls.size() ? types.calls[call] : CallTypes{});
      std::vector<std::string>& arguments = plain.q[call].arguments;
      for (std::size_t index = 0; index < arguments.size(); ++index) {
        arguments[index] = of_call.argument(arguments[index], index);
      }
      plain.r[call] = of_call.result(plain.r[call]);
    }
  }
  return plain;
}

std::string draw_calls(const Interaction& interaction) {
  return Drawing(interaction).draw();
}

}  // namespace tenon::algebra
