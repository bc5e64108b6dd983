#include <fmt/format.h>

#include "algebra/form.h"
#include "algebra/interaction.h"
#include "base/json_text.h"

namespace tenon::algebra {
namespace {

/// A JSON list of `write(item)`.
template <class Items, class Write>
std::string list(const Items& items, Write write) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += write(item);
  }
  return text + ']';
}

std::string quoted(const Hash& hash) {
  return '"' + hash.hex() + '"';
}

std::string write_bounds(const Control::Bounds& bounds) {
  std::string text = "{";
  const auto add = [&](std::string_view name, const std::optional<std::uint64_t>& bound) {
    if (bound) text += fmt::format(R"({}"{}":"{}")", text.size() > 1 ? "," : "", name, *bound);
  };
  add("calls", bounds.model_calls);
  add("cost", bounds.cost_millionths);
  add("depth", bounds.depth);
  add("instructions", bounds.instructions);
  add("time", bounds.milliseconds);
  add("tokens", bounds.tokens);
  return text + '}';
}

std::string write_cycle(const Cycle& cycle) {
  std::string text = "{";
  if (!cycle.control.is_empty()) text += R"("control":)" + write_control(cycle.control) + ',';
  return text + R"("u":)" + write_input(cycle) + R"(,"v":)" + write_output(cycle) + '}';
}

std::string write_entry(const ContextEntry& entry) {
  std::string text = "{";
  if (!entry.parent.is_zero()) text += R"("parent":)" + quoted(entry.parent) + ',';
  text += fmt::format(R"("role":{},"text":)", entry.role);
  append_json_string(text, entry.text);
  return text + '}';
}

}  // namespace

std::string write_control(const Control& control) {
  std::string text = "{";
  const auto add = [&](std::string_view name, const std::string& value) {
    text += fmt::format(R"({}"{}":{})", text.size() > 1 ? "," : "", name, value);
  };
  if (control.bounds) add("bounds", write_bounds(*control.bounds));
  if (control.cancel) {
    std::string cancel = fmt::format(R"({{"after":"{}","reason":)", control.cancel->after);
    append_json_string(cancel, control.cancel->reason);
    add("cancel", cancel + '}');
  }
  if (control.keeps_state) add("kept", "true");
  if (!control.order.empty()) add("order", list(control.order, [](const std::string& at) { return '"' + at + '"'; }));
  if (control.is_stopped) add("stopped", "true");
  if (!control.usage.empty()) {
    add("usage", list(control.usage, [](const Control::Usage& usage) {
          return fmt::format(R"({{"calls":"{}","cost":"{}","time":"{}","tokens":"{}"}})", usage.model_calls,
                             usage.cost_millionths, usage.milliseconds, usage.tokens);
        }));
  }
  return text + '}';
}

std::string write_output(const Cycle& cycle) {
  if (cycle.said.empty()) return '{' + write_result(cycle.result) + '}';
  const std::string said = R"("said":)" + list(cycle.said, [](const std::string& text) { return text; });
  // In the order of the names.
  const bool has_value = std::holds_alternative<std::string>(cycle.result);
  return has_value ? '{' + said + ',' + write_result(cycle.result) + '}'
                   : '{' + write_result(cycle.result) + ',' + said + '}';
}

std::string write_input(const Cycle& cycle) {
  if (!cycle.agent.empty()) {
    std::string text = R"({"agent":)" + make_json_string(cycle.agent) + R"(,"input":)" + make_json_string(cycle.input);
    if (cycle.program > 0) text += fmt::format(R"(,"program":{})", cycle.program);
    return text + '}';
  }
  return R"({"arguments":)" + cycle.arguments + R"(,"function":)" + make_json_string(cycle.function) + '}';
}

std::string write_tool(const Tool& tool) {
  std::string entry = fmt::format(R"({{"kind":"{}","name":)", tool_kind_name(tool.kind));
  append_json_string(entry, tool.name);
  return entry + '}';
}

std::string write_query(const Query& query) {
  std::string text = R"({"arguments":)";
  text += list(query.arguments, [](const std::string& value) { return value.empty() ? "null" : value; });
  if (!query.contexts.empty()) text += R"(,"contexts":)" + list(query.contexts, quoted);
  if (!query.pauses.empty()) {
    text += R"(,"pauses":)" + list(query.pauses, [](const Pause& pause) {
              const std::string answer = pause.answer ? R"("answer":)" + make_json_string(*pause.answer) + ',' : "";
              return "{" + answer + R"("question":)" + make_json_string(pause.question) + '}';
            });
  }
  if (!query.requests.empty()) text += R"(,"requests":)" + list(query.requests, quoted);
  std::vector<std::size_t> unknown;
  for (std::size_t at = 0; at < query.arguments.size(); ++at) {
    if (query.arguments[at].empty()) unknown.push_back(at);
  }
  if (!unknown.empty()) text += R"(,"unknown":)" + list(unknown, [](std::size_t at) { return std::to_string(at); });
  return text + '}';
}

std::string write_call_result(const CallResult& result) {
  return '{' + write_result(result) + '}';
}

std::string write_form(const Artifacts& artifacts) {
  std::string text = R"({"contexts":{)";
  for (const auto& [hash, entry] : artifacts.contexts) {
    if (text.back() != '{') text += ',';
    text += quoted(hash) + ':' + write_entry(entry);
  }
  text += fmt::format(R"(}},"form":{},"h":)", static_cast<unsigned>(artifacts.form));
  text += list(artifacts.h, write_cycle);
  text += R"(,"q":)" + list(artifacts.q, write_query);
  text += R"(,"r":)" + list(artifacts.r, write_call_result);
  text += R"(,"sigma":)" + list(artifacts.sigma, [](const std::vector<Choice>& row) {
            return list(row, [](const Choice& choice) {
              const std::string other =
                  choice.alternative > 0 ? fmt::format(R"("alternative":{},)", choice.alternative) : "";
              return fmt::format(R"({{{}"at":"{}","tool":{}}})", other, choice.at, choice.tool + 1);
            });
          });
  text += R"(,"tools":)" + list(artifacts.tools, write_tool);
  return text + '}';
}

Hash hash_of(const Artifacts& artifacts) {
  return sha256(write_form(artifacts));
}

std::string name_of(const Artifacts& artifacts) {
  return fmt::format("{}:{}", static_cast<unsigned>(artifacts.form), hash_of(artifacts).hex());
}

}  // namespace tenon::algebra
