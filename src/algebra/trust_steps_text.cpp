#include <fmt/format.h>
#include <fmt/ranges.h>

#include "algebra/trust_steps.h"
#include "base/counted.h"
#include "base/utf8.h"
#include "json/writer.h"

namespace tenon::algebra {
namespace {

using Kind = TrustStep::Kind;
using Outcome = TrustStep::Outcome;

/// Limit for a value on the terminal.
constexpr std::size_t drawn_bytes_max = 160;

std::string drawn(const std::string& text) {
  if (text.size() <= drawn_bytes_max) return text;
  return std::string(cut_utf8(text, drawn_bytes_max)) + "…";
}

std::string name_of(const BitBudget& budget) {
  if (!budget.place.empty()) return "the budget at " + budget.place;
  return budget.turn > 0 ? "the turn" : "the run";
}

std::string depends_on(const std::vector<std::string>& sources) {
  return sources.empty() ? "the program's own text" : fmt::format("{}", fmt::join(sources, ", "));
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::Call:
      return "call";
    case Kind::Refused:
      return "refused";
    case Kind::Narrow:
      return "narrow";
    case Kind::Spent:
      return "spent";
    case Kind::Endorsed:
      return "endorsed";
    case Kind::Approval:
      return "approval";
  }
  return "";
}

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::None:
      return "none";
    case Outcome::Done:
      return "done";
    case Outcome::Changed:
      return "changed";
    case Outcome::Declined:
      return "declined";
    case Outcome::Failed:
      return "failed";
    case Outcome::Dropped:
      return "dropped";
  }
  return "";
}

class TrustDrawing {
 public:
  explicit TrustDrawing(const TrustSteps& found) : found_(found) {}

  std::string draw() {
    if (!found_.has_sinks) return "nothing in the program must be trusted\n";
    std::uint64_t turn = 0;
    for (const TrustStep& step : found_.steps) {
      if (step.turn != turn) out_ += fmt::format("turn {}\n", turn = step.turn);
      draw_step(step);
    }
    if (found_.steps.empty()) out_ += "the run has made no call that acts\n";
    for (const BitBudget& budget : found_.budgets) {
      if (budget.spent == 0) continue;
      const std::string turn_of = budget.turn > 0 ? fmt::format(" in turn {}", budget.turn) : "";
      out_ +=
          fmt::format("{}{}: {} of {} spent\n", name_of(budget), turn_of, counted(budget.spent, "bit"), budget.allowed);
    }
    return std::move(out_);
  }

 private:
  void line(std::string text) { out_ += "  " + std::move(text) + "\n"; }

  void begin(const TrustStep& step, const std::string& what) {
    const std::string record = step.record > 0 ? fmt::format("  [{}]", step.record) : std::string();
    out_ += fmt::format("{}: {}{}\n", step.place, what, record);
  }

  static std::string call_of(const TrustStep& step) {
    std::string arguments;
    for (const TrustStep::Value& value : step.values) {
      arguments += fmt::format("{}{}: {}", arguments.empty() ? "" : ", ", value.name, drawn(value.value));
    }
    return fmt::format("{}({})", step.name, arguments);
  }

  void draw_step(const TrustStep& step) {
    switch (step.kind) {
      case Kind::Call:
        begin(step, call_of(step));
        return draw_allowed(step);
      case Kind::Refused: {
        const bool is_value = step.values.size() == 1 && step.values[0].name.empty();
        begin(step, is_value ? drawn(step.values[0].value) : call_of(step));
        const std::string times = step.times > 1 ? fmt::format(", {} times", step.times) : "";
        line(fmt::format("refused{}: {} depends on {}", times, step.text, fmt::join(step.sources, " and ")));
        return draw_way(step);
      }
      case Kind::Narrow: {
        const std::string answer = step.outcome == Outcome::Done      ? drawn(step.answer)
                                   : step.outcome == Outcome::Failed  ? "failed: " + drawn(step.answer)
                                   : step.outcome == Outcome::Dropped ? std::string("dropped")
                                                                      : std::string("…");
        begin(step, fmt::format("narrow answer of {}: {}", step.name, answer));
        const BitBudget& budget = found_.budgets[step.budget];
        return line(fmt::format("{}, {} of {} of {}; sees {}", counted(step.bits, "bit"), step.spent, budget.allowed,
                                name_of(budget), depends_on(step.sources)));
      }
      case Kind::Spent: {
        begin(step, fmt::format("narrow answer of {}", step.name));
        const BitBudget& budget = found_.budgets[step.budget];
        return line(fmt::format("refused: it costs {}, and {} of {} of {} are spent", counted(step.bits, "bit"),
                                step.spent, budget.allowed, name_of(budget)));
      }
      case Kind::Endorsed:
        begin(step, "endorse " + drawn(step.values[0].value));
        return line(fmt::format("because {}; depends on {}", step.text, depends_on(step.values[0].sources)));
      case Kind::Approval:
        return draw_approval(step);
    }
  }

  void draw_allowed(const TrustStep& step) {
    if (step.is_of_call) return line("allowed: a person has approved of the call");
    line(fmt::format("allowed: {}; depends on {}", fmt::join(step.allowed, ", "), depends_on(step.sources)));
  }

  void draw_approval(const TrustStep& step) {
    begin(step, fmt::format("approve {}", drawn(step.values[0].value)));
    std::string answer = "no answer yet";
    if (step.outcome == Outcome::Done) answer = "yes";
    if (step.outcome == Outcome::Declined) answer = "no";
    if (step.outcome == Outcome::Changed) answer = "instead " + drawn(step.answer);
    if (step.outcome == Outcome::Failed) answer = "failed: " + drawn(step.answer);
    if (step.outcome == Outcome::Dropped) answer = "dropped without an answer";
    line(
        fmt::format("a person is asked \"{}\": {}; depends on {}", drawn(step.text), answer, depends_on(step.sources)));
    draw_way(step);
  }

  void draw_way(const TrustStep& step) {
    for (const TrustStep::Origin& origin : step.from) {
      const std::string at = origin.place.empty() ? "with the input" : "at " + origin.place;
      const std::string record = origin.record > 0 ? fmt::format("  [{}]", origin.record) : std::string();
      line(fmt::format("{} has come in {}{}", origin.source, at, record));
    }
    for (const TrustStep::Way& way : step.way) line(fmt::format("  {}: {}", way.place, way.text));
  }

  const TrustSteps& found_;
  std::string out_;
};

void write_names(JsonWriter& out, std::string_view name, const std::vector<std::string>& names) {
  out.name(name).begin_list();
  for (const std::string& one : names) out.text(one);
  out.end_list();
}

void write_number(JsonWriter& out, std::string_view name, std::uint64_t number) {
  if (number > 0) out.name(name).integer(number);
}

void write_step(JsonWriter& out, const TrustStep& step) {
  out.begin_object().name("kind").text(name_of(step.kind));
  write_number(out, "turn", step.turn);
  out.name("place").text(step.place);
  write_number(out, "requested", step.requested);
  write_number(out, "record", step.record);
  if (!step.name.empty()) out.name("function").text(step.name);
  if (!step.values.empty()) {
    out.name("values").begin_list();
    for (const TrustStep::Value& value : step.values) {
      out.begin_object();
      if (!value.name.empty()) out.name("name").text(value.name);
      out.name("value").raw(value.value);
      write_names(out, "sources", value.sources);
      out.end_object();
    }
    out.end_list();
  }
  if (step.kind != Kind::Endorsed && step.kind != Kind::Spent) write_names(out, "sources", step.sources);
  if (step.kind == Kind::Call) {
    write_names(out, "allowed", step.allowed);
    out.name("approved_call").boolean(step.is_of_call);
  }
  if (step.kind == Kind::Refused) out.name("what").text(step.text).name("times").integer(step.times);
  if (step.kind == Kind::Endorsed) out.name("why").text(step.text);
  if (step.kind == Kind::Approval) {
    out.name("question").text(step.text).name("of_call").boolean(step.is_of_call);
  }
  if (step.kind == Kind::Approval || step.kind == Kind::Narrow || step.kind == Kind::Call) {
    out.name("outcome").text(name_of(step.outcome));
    if (step.outcome == Outcome::Failed) {
      out.name("message").text(step.answer);
    } else if (!step.answer.empty()) {
      out.name("answer").raw(step.answer);
    }
  }
  if (step.kind == Kind::Narrow || step.kind == Kind::Spent) {
    out.name("bits").integer(step.bits).name("budget").integer(step.budget).name("spent").integer(step.spent);
  }
  if (step.kind == Kind::Refused || (step.kind == Kind::Approval && step.is_of_call)) {
    out.name("from").begin_list();
    for (const TrustStep::Origin& origin : step.from) {
      out.begin_object().name("source").text(origin.source);
      if (!origin.place.empty()) out.name("place").text(origin.place);
      write_number(out, "record", origin.record);
      out.end_object();
    }
    out.end_list().name("way").begin_list();
    for (const TrustStep::Way& way : step.way) {
      out.begin_object().name("place").text(way.place).name("kind").text(way.kind);
      out.name("text").text(way.text).end_object();
    }
    out.end_list();
  }
  out.end_object();
}

}  // namespace

std::string draw_trust_steps(const TrustSteps& found) {
  return TrustDrawing(found).draw();
}

std::string write_trust_steps(const TrustSteps& found) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().name("run").text(found.run).name("steps").begin_list();
  for (const TrustStep& step : found.steps) write_step(out, step);
  out.end_list().name("budgets").begin_list();
  for (const BitBudget& budget : found.budgets) {
    out.begin_object();
    if (!budget.place.empty()) out.name("place").text(budget.place);
    write_number(out, "turn", budget.turn);
    out.name("allowed").integer(budget.allowed).name("spent").integer(budget.spent).end_object();
  }
  out.end_list().end_object();
  return text;
}

}  // namespace tenon::algebra
