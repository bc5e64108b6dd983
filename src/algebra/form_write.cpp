#include <fmt/format.h>

#include <algorithm>

#include "algebra/form.h"
#include "json/writer.h"

namespace tenon::algebra {
namespace {

/// A member of that name: a list to which `add` adds each item.
template <class Items, class Add>
void add_list(JsonWriter& out, std::string_view name, const Items& items, Add add) {
  out.name(name).begin_list();
  for (const auto& item : items) add(item);
  out.end_list();
}

void add_hashes(JsonWriter& out, std::string_view name, const std::vector<Hash>& hashes) {
  if (hashes.empty()) return;
  add_list(out, name, hashes, [&](const Hash& hash) { out.text(hash.hex()); });
}

/// Numbers of 64 bits are strings of digits.
void add_digits(JsonWriter& out, std::string_view name, const std::optional<std::uint64_t>& number) {
  if (number) out.name(name).text(std::to_string(*number));
}

void add_bounds(JsonWriter& out, const bytecode::Bounds& bounds) {
  static constexpr auto sorted = [] {
    auto all = bytecode::named_bounds;
    std::ranges::sort(all, {}, &bytecode::NamedBound::name);
    return all;
  }();
  out.name("bounds").begin_object();
  for (const auto& [name, bound] : sorted) add_digits(out, name, bounds.*bound);
  out.end_object();
}

void add_entry(JsonWriter& out, const ContextEntry& entry) {
  out.begin_object();
  if (!entry.parent.is_zero()) out.name("parent").text(entry.parent.hex());
  out.name("role").integer(entry.role).name("text").text(entry.text).end_object();
}

void add_pause(JsonWriter& out, const Pause& pause) {
  out.begin_object();
  if (pause.answer) out.name("answer").text(*pause.answer);
  out.name("question").text(pause.question).end_object();
}

void add_choice(JsonWriter& out, const Choice& choice) {
  out.begin_object();
  if (choice.alternative > 0) out.name("alternative").integer(choice.alternative);
  out.name("at").text(choice.at).name("tool").integer(choice.tool + 1).end_object();
}

}  // namespace

std::string write_control(const Control& control) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  if (control.bounds) add_bounds(out, *control.bounds);
  if (control.cancel) {
    out.name("cancel").begin_object();
    add_digits(out, "after", control.cancel->after);
    out.name("reason").text(control.cancel->reason).end_object();
  }
  if (control.keeps_state) out.name("kept").boolean(true);
  if (!control.order.empty()) {
    add_list(out, "order", control.order, [&](const std::string& at) { out.text(at); });
  }
  if (control.is_stopped) out.name("stopped").boolean(true);
  if (!control.usage.empty()) {
    add_list(out, "usage", control.usage, [&](const vm::Usage& usage) {
      out.begin_object();
      add_digits(out, "calls", usage.model_calls);
      add_digits(out, "cost", usage.cost_millionths);
      add_digits(out, "time", usage.milliseconds);
      add_digits(out, "tokens", usage.tokens);
      out.end_object();
    });
  }
  out.end_object();
  return text;
}

std::string write_output(const Cycle& cycle) {
  std::string text;
  JsonWriter out(text);
  const auto add_said = [&] {
    if (!cycle.said.empty()) add_list(out, "said", cycle.said, [&](const std::string& said) { out.raw(said); });
  };
  // In the order of the names.
  const bool has_value = std::holds_alternative<std::string>(cycle.result);
  out.begin_object();
  if (has_value) add_said();
  add_result(out, cycle.result);
  if (!has_value) add_said();
  out.end_object();
  return text;
}

std::string write_input(const Cycle& cycle) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  if (!cycle.agent.empty()) {
    out.name("agent").text(cycle.agent).name("input").text(cycle.input);
    if (cycle.program > 0) out.name("program").integer(cycle.program);
  } else {
    out.name("arguments").raw(cycle.arguments).name("function").text(cycle.function);
  }
  out.end_object();
  return text;
}

std::string write_tool(const Tool& tool) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().name("kind").text(tool_kind_name(tool.kind)).name("name").text(tool.name).end_object();
  return text;
}

std::string write_query(const Query& query) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  add_arguments(out, query.arguments);
  add_hashes(out, "contexts", query.contexts);
  if (!query.pauses.empty()) {
    add_list(out, "pauses", query.pauses, [&](const Pause& pause) { add_pause(out, pause); });
  }
  add_hashes(out, "requests", query.requests);
  add_unknown(out, query.arguments);
  out.end_object();
  return text;
}

std::string write_call_result(const CallResult& result) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  add_result(out, result);
  out.end_object();
  return text;
}

void add_arguments(JsonWriter& out, const std::vector<std::string>& values) {
  add_list(out, "arguments", values, [&](const std::string& value) { value.empty() ? out.null() : out.raw(value); });
}

void add_unknown(JsonWriter& out, const std::vector<std::string>& values) {
  if (std::ranges::none_of(values, &std::string::empty)) return;
  out.name("unknown").begin_list();
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (values[at].empty()) out.integer(at);
  }
  out.end_list();
}

void add_result(JsonWriter& out, const CallResult& result) {
  if (const auto* const value = std::get_if<std::string>(&result)) {
    out.name("value").raw(*value);
  } else if (std::holds_alternative<Discarded>(result)) {
    out.name("discarded").boolean(true);
  } else if (std::holds_alternative<Pending>(result)) {
    out.name("pending").boolean(true);
  } else if (const auto* const prompt = std::get_if<effects::AgentPrompt>(&result)) {
    const bool waits = prompt->kind == vm::PromptKind::PauseForChild;
    out.name(waits ? "child" : "successor").begin_object();
    out.name("agent").text(prompt->agent).name("input").raw(prompt->input).end_object();
  } else {
    const Failed& failed = std::get<Failed>(result);
    out.name("failure").begin_object();
    out.name("blame").text(failed.blame).name("kind").text(types::failure_kind_name(failed.kind));
    out.name("message").text(failed.message).end_object();
  }
}

std::string write_form(const Artifacts& artifacts) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().name("contexts").begin_object();
  for (const auto& [hash, entry] : artifacts.contexts) {
    out.name(hash.hex());
    add_entry(out, entry);
  }
  out.end_object().name("form").integer(static_cast<unsigned>(artifacts.form));
  add_list(out, "h", artifacts.h, [&](const Cycle& cycle) {
    out.begin_object();
    if (!cycle.control.is_empty()) out.name("control").raw(write_control(cycle.control));
    out.name("u").raw(write_input(cycle)).name("v").raw(write_output(cycle)).end_object();
  });
  add_list(out, "q", artifacts.q, [&](const Query& query) { out.raw(write_query(query)); });
  add_list(out, "r", artifacts.r, [&](const CallResult& result) { out.raw(write_call_result(result)); });
  add_list(out, "sigma", artifacts.sigma, [&](const std::vector<Choice>& row) {
    out.begin_list();
    for (const Choice& choice : row) add_choice(out, choice);
    out.end_list();
  });
  add_list(out, "tools", artifacts.tools, [&](const Tool& tool) { out.raw(write_tool(tool)); });
  out.end_object();
  return text;
}

Hash hash_of(const Artifacts& artifacts) {
  return sha256(write_form(artifacts));
}

std::string name_of(const Artifacts& artifacts) {
  return fmt::format("{}:{}", static_cast<unsigned>(artifacts.form), hash_of(artifacts).hex());
}

}  // namespace tenon::algebra
