#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "algebra/canonical.h"
#include "algebra/form.h"
#include "base/counted.h"
#include "json/reader.h"
#include "json/text.h"

namespace tenon::algebra {
namespace {

/// A JSON value with its place in the text. What is not as it should be is noted, the first of all, and read as if it
/// were empty.
class Part {
 public:
  Part(const Json& json, std::string place, std::string& problem)
      : json_(&json), place_(std::move(place)), problem_(&problem) {}

  void refuse(std::string_view what) const {
    if (problem_->empty()) *problem_ = fmt::format("the artifacts cannot be read: {}: {}", place_, what);
  }
  [[nodiscard]] const Json& json() const { return *json_; }
  /// Another value at the same location.
  [[nodiscard]] Part with(const Json& json) const { return {json, place_, *problem_}; }

  /// The members may only be of these names.
  void expect_object(std::initializer_list<std::string_view> names) const {
    if (!json_->is_object()) return refuse("an object was expected");
    for (const auto& [name, value] : json_->members()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) refuse("there is no `" + name + "`");
    }
  }
  [[nodiscard]] std::optional<Part> find(const std::string& name) const {
    const Json* const found = json_->find(name);
    if (found == nullptr) return std::nullopt;
    return Part(*found, place_ + "." + name, *problem_);
  }
  [[nodiscard]] Part get(const std::string& name) const {
    if (auto found = find(name)) return std::move(*found);
    refuse("`" + name + "` is missing");
    static const Json nothing;
    return {nothing, place_ + "." + name, *problem_};
  }
  [[nodiscard]] std::vector<Part> items() const {
    std::vector<Part> parts;
    if (!json_->is_array()) {
      refuse("a list was expected");
      return parts;
    }
    for (std::size_t at = 0; at < json_->size(); ++at) {
      parts.emplace_back(json_->items()[at], fmt::format("{}[{}]", place_, at), *problem_);
    }
    return parts;
  }
  [[nodiscard]] std::string text() const {
    if (json_->is_string()) return json_->as_string();
    refuse("a text was expected");
    return {};
  }
  [[nodiscard]] std::uint32_t number(std::uint32_t max) const {
    if (json_->is_count() && json_->as_count() <= max) return static_cast<std::uint32_t>(json_->as_count());
    refuse(fmt::format("a number up to {} was expected", max));
    return 0;
  }
  /// A number of up to 64 bits, as a string: JSON numbers are not exact beyond 53 bits.
  [[nodiscard]] std::uint64_t long_number() const {
    const std::string digits = text();
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size()) refuse("expected digits");
    return number;
  }
  void expect_true() const {
    if (*json_ != Json(true)) refuse("expected `true`");
  }
  [[nodiscard]] Hash hash() const {
    const auto hash = Hash::from_hex(text());
    if (!hash) refuse("expected 64 hexadecimal digits");
    return hash.value_or(Hash{});
  }
  [[nodiscard]] std::string canonical() const { return json_->dump(JsonForm::Canonical); }

 private:
  const Json* json_;
  std::string place_;
  std::string* problem_;
};

types::FailureKind read_failure_kind(const Part& part) {
  const std::string name = part.text();
  for (std::uint8_t at = 0; at <= static_cast<std::uint8_t>(types::last_failure_kind); ++at) {
    if (types::failure_kind_name(types::FailureKind{at}) == name) return types::FailureKind{at};
  }
  part.refuse("there is no such kind of failure: " + name);
  return types::FailureKind::Raised;
}

CallResult read_result(const Part& part) {
  part.expect_object({"value", "failure", "discarded", "pending", "child", "successor"});
  if (part.json().size() != 1) {
    part.refuse("one of value, failure, discarded, pending, child and successor was expected");
    return Pending{};
  }
  if (const auto value = part.find("value")) return value->canonical();
  if (const auto failed = part.find("failure")) {
    failed->expect_object({"blame", "kind", "message"});
    return Failed{read_failure_kind(failed->get("kind")), failed->get("message").text(), failed->get("blame").text()};
  }
  if (const auto discarded = part.find("discarded")) {
    discarded->expect_true();
    return Discarded{};
  }
  using vm::PromptKind;
  for (const auto& [name, kind] :
       {std::pair("child", PromptKind::PauseForChild), std::pair("successor", PromptKind::FinishAgent)}) {
    const auto prompt = part.find(name);
    if (!prompt) continue;
    prompt->expect_object({"agent", "input"});
    return effects::AgentPrompt{prompt->get("agent").text(), prompt->get("input").canonical(), kind};
  }
  part.get("pending").expect_true();
  return Pending{};
}

Control read_control(const Part& part) {
  part.expect_object({"bounds", "cancel", "kept", "order", "stopped", "usage"});
  Control control;
  if (const auto kept = part.find("kept")) {
    kept->expect_true();
    control.keeps_state = true;
  }
  if (const auto bounds = part.find("bounds")) {
    bounds->expect_object({"calls", "cost", "depth", "instructions", "time", "tokens"});
    control.bounds.emplace();
    for (const auto& [name, bound] : bytecode::named_bounds) {
      if (const auto number = bounds->find(std::string(name))) (*control.bounds).*bound = number->long_number();
    }
  }
  if (const auto cancel = part.find("cancel")) {
    cancel->expect_object({"after", "reason"});
    control.cancel = Control::Cancel{cancel->get("after").long_number(), cancel->get("reason").text()};
  }
  if (const auto order = part.find("order")) {
    for (const Part& at : order->items()) control.order.push_back(at.text());
  }
  if (const auto stopped = part.find("stopped")) {
    stopped->expect_true();
    control.is_stopped = true;
  }
  if (const auto usages = part.find("usage")) {
    for (const Part& usage : usages->items()) {
      usage.expect_object({"calls", "cost", "time", "tokens"});
      control.usage.push_back({usage.get("calls").long_number(), usage.get("tokens").long_number(),
                               usage.get("cost").long_number(), usage.get("time").long_number()});
    }
    if (control.usage.size() != control.order.size()) part.refuse("order and usage differ in length");
  }
  return control;
}

/// `v`: a result, and what was said on the way.
void read_output(const Part& part, Form form, Cycle& cycle) {
  const auto said = part.find("said");
  if (!said || form < Form::Said) {
    cycle.result = read_result(part);
    return;
  }
  for (const Part& text : said->items()) cycle.said.push_back(make_json_string(text.text()));
  if (cycle.said.empty()) said->refuse("a text was expected");
  Json result = part.json();
  result.erase("said");
  cycle.result = read_result(part.with(result));
}

Cycle read_cycle(const Part& part, Form form) {
  part.expect_object({"control", "u", "v"});
  Cycle cycle;
  const Part input = part.get("u");
  if (const auto agent = input.find("agent")) {
    input.expect_object({"agent", "input", "program"});
    cycle.agent = agent->text();
    if (cycle.agent.empty()) agent->refuse("a name was expected");
    cycle.input = input.get("input").text();
    if (const auto program = input.find("program")) cycle.program = program->number(UINT32_MAX);
  } else {
    input.expect_object({"arguments", "function"});
    static_cast<void>(input.get("arguments").items());
    cycle.arguments = input.get("arguments").canonical();
    cycle.function = input.get("function").text();
  }
  read_output(part.get("v"), form, cycle);
  if (std::holds_alternative<Discarded>(cycle.result)) part.refuse("a run is not discarded");
  if (std::holds_alternative<effects::AgentPrompt>(cycle.result)) part.refuse("a run ends with a value");
  if (const auto control = part.find("control")) cycle.control = read_control(*control);
  return cycle;
}

Query read_query(const Part& part, Form form) {
  part.expect_object({"arguments", "contexts", "pauses", "requests", "unknown"});
  Query query;
  for (const Part& value : part.get("arguments").items()) query.arguments.push_back(value.canonical());
  if (const auto contexts = part.find("contexts")) {
    for (const Part& hash : contexts->items()) query.contexts.push_back(hash.hash());
  }
  if (const auto requests = part.find("requests")) {
    if (form < Form::Said) requests->refuse("this form has no requests");
    for (const Part& hash : requests->items()) query.requests.push_back(hash.hash());
  }
  if (const auto pauses = part.find("pauses")) {
    for (const Part& pause : pauses->items()) {
      pause.expect_object({"answer", "question"});
      const auto answer = pause.find("answer");
      query.pauses.push_back({pause.get("question").text(), answer ? std::optional(answer->text()) : std::nullopt});
    }
  }
  if (const auto unknown = part.find("unknown")) {
    for (const Part& at : unknown->items()) {
      const std::uint32_t index = at.number(UINT32_MAX);
      if (index < query.arguments.size()) {
        query.arguments[index].clear();
      } else {
        at.refuse("there is no such argument");
      }
    }
  }
  return query;
}

/// Numbers with dots between them.
std::string read_name(const Part& part) {
  std::string name = part.text();
  char before = '.';
  for (const char letter : name) {
    if (letter != '.' && (letter < '0' || letter > '9')) part.refuse("a call's name has numbers and dots");
    if (letter == '.' && before == '.') part.refuse("a number is missing between two dots");
    before = letter;
  }
  if (before == '.') part.refuse("a call's name ends with a number");
  return name;
}

std::vector<Choice> read_row(const Part& part, std::size_t tools) {
  std::vector<Choice> row;
  for (const Part& entry : part.items()) {
    entry.expect_object({"alternative", "at", "tool"});
    const Part number = entry.get("tool");
    const std::uint32_t tool = number.number(static_cast<std::uint32_t>(tools));
    if (tool == 0) number.refuse("tools count from 1");
    const auto alternative = entry.find("alternative");
    row.push_back(
        {read_name(entry.get("at")), std::max(tool, 1U) - 1, alternative ? alternative->number(UINT32_MAX) : 0});
  }
  return row;
}

Artifacts read_artifacts(const Part& all) {
  all.expect_object({"contexts", "form", "h", "q", "r", "sigma", "tools"});
  const std::uint32_t form = all.get("form").number(UINT32_MAX);
  Artifacts artifacts;
  if (form == 0 || form > static_cast<std::uint32_t>(newest_form)) {
    all.get("form").refuse(fmt::format("it is {}, which this Tenon cannot read", form));
  } else {
    artifacts.form = Form{static_cast<std::uint8_t>(form)};
  }
  for (const Part& part : all.get("tools").items()) {
    part.expect_object({"kind", "name"});
    const auto kind = find_tool_kind(part.get("kind").text());
    if (!kind) part.refuse("there is no such kind of tool");
    artifacts.tools.push_back({kind.value_or(ToolKind::Extern), part.get("name").text()});
  }
  for (const Part& part : all.get("h").items()) artifacts.h.push_back(read_cycle(part, artifacts.form));
  const bool is_of_several = !artifacts.h.empty() && artifacts.h.back().program > 0;
  if (artifacts.form < Form::Said && is_of_several != (artifacts.form == Form::SeveralPrograms))
    all.get("form").refuse("the programs of h require the other one");
  for (const Part& part : all.get("q").items()) artifacts.q.push_back(read_query(part, artifacts.form));
  std::size_t calls = 0;
  for (const Part& part : all.get("sigma").items()) {
    artifacts.sigma.push_back(read_row(part, artifacts.tools.size()));
    calls += artifacts.sigma.back().size();
  }
  for (const Part& part : all.get("r").items()) artifacts.r.push_back(read_result(part));
  if (artifacts.h.size() != artifacts.sigma.size()) all.refuse("h and sigma have different numbers of cycles");
  if (artifacts.q.size() != calls || artifacts.r.size() != calls) {
    all.refuse(
        fmt::format("sigma has {}, q {} and r {}", counted(calls, "call"), artifacts.q.size(), artifacts.r.size()));
  }
  const Part contexts = all.get("contexts");
  if (!contexts.json().is_object()) {
    contexts.refuse("an object was expected");
    return artifacts;
  }
  for (const auto& [name, value] : contexts.json().members()) {
    const Part part = contexts.get(name);
    part.expect_object({"parent", "role", "text"});
    const auto hash = Hash::from_hex(name);
    if (!hash) {
      part.refuse("expected 64 hexadecimal digits");
      continue;
    }
    const auto parent = part.find("parent");
    artifacts.contexts[*hash] = {parent ? parent->hash() : Hash{},
                                 static_cast<std::uint8_t>(part.get("role").number(UINT8_MAX)),
                                 part.get("text").text()};
  }
  return artifacts;
}

}  // namespace

Result<Artifacts, AlgebraError> read_form(std::string_view text) {
  const auto parsed = parse_json(text, artifact_limits);
  if (!parsed) {
    const bool is_too_deep = parsed.error().kind == JsonErrorKind::TooDeep;
    const std::string_view problem = is_too_deep ? "the JSON is nested too deeply" : "invalid JSON";
    return failure(AlgebraError{fmt::format("the artifacts cannot be read: {}", problem)});
  }
  std::string problem;
  Artifacts artifacts = read_artifacts(Part(*parsed, "artifacts", problem));
  if (!problem.empty()) return failure(AlgebraError{std::move(problem)});
  return artifacts;
}

}  // namespace tenon::algebra
