#include "flows/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagnostics/kinds.h"
#include "flows/call_text.h"

namespace tenon::flows {
namespace {

/// More places of a way are not marked.
constexpr std::size_t marked_steps_max = 4;

std::string describe_marked(const Step& step, bool is_person) {
  switch (step.kind) {
    case StepKind::Read:
      return is_person ? "what a person says comes in here" : "they come in here";
    case StepKind::Injected:
      return "they are added to the context here";
    case StepKind::Answered:
      return "a model answers with them before its eyes";
    case StepKind::Decided:
      return "they decide what happens here";
    case StepKind::Passed:
      return "they are passed on here";
    case StepKind::Returned:
      return "they come back here";
    case StepKind::Kept:
      return "the agent keeps them";
    case StepKind::Failed:
      return "a failure with them is handled";
  }
  return "";
}

/// Writes the diagnostic of one finding.
class FindingReport {
 public:
  FindingReport(const bytecode::Program& program, const Sink& sink, const Finding& finding,
                std::span<const source::SourceFile* const> files)
      : program_(program), sink_(sink), finding_(finding), files_(files) {}

  void write(Proofs proofs, diagnostics::Diagnostics& diagnostics) const {
    const std::string& what = finding_.what;
    const source::Span span = span_of_sink();
    auto& report = finding_.verdict == Verdict::Refused
                       ? diagnostics.report(diagnostics::DecidedFromOutside, span, what)
                   : proofs == Proofs::Required ? diagnostics.report(diagnostics::NotProvedTrusted, span, what)
                                                : diagnostics.report(diagnostics::MayBeDecidedFromOutside, span, what);
    mark_way(report, span);
    add_hints(report);
  }

 private:
  [[nodiscard]] bytecode::Place place_of_step(const Step& step) const {
    return place_of(program_, step.function, step.pc);
  }
  [[nodiscard]] source::Span span_of_place(const bytecode::Place& place) const {
    if (place.file >= files_.size() || files_[place.file] == nullptr) return {};
    return span_at(*files_[place.file], place);
  }

  [[nodiscard]] source::Span span_of_sink() const {
    const bytecode::Place place = place_of(program_, sink_.function, sink_.pc);
    if (finding_.subject == Subject::Parameter && place.file < files_.size() && files_[place.file] != nullptr) {
      const bytecode::Instruction call = program_.functions[sink_.function].code[sink_.pc];
      const std::size_t count = program_.externs[call.wide()].parameters.size();
      const auto argument = find_argument(*files_[place.file], place, sink_.name, finding_.parameter, count);
      if (argument) return *argument;
    }
    return span_of_place(place);
  }

  [[nodiscard]] bool is_of_persons() const {
    return std::ranges::all_of(finding_.sources, [](Source source) { return source.callee == Source::person; });
  }

  /// Marks where the words come in, and the last places before the sink; of several in a line, the first.
  void mark_way(diagnostics::Diagnostic& report, source::Span sink) const {
    std::vector<Step> steps = finding_.way;
    std::vector<bytecode::Place> marked;
    const auto is_marked = [&](const Step& step) {
      const bytecode::Place place = place_of_step(step);
      const auto is_same = [&](const bytecode::Place& known) {
        return known.file == place.file && known.line == place.line;
      };
      if (std::ranges::any_of(marked, is_same)) return true;
      marked.push_back(place);
      return false;
    };
    std::erase_if(steps, is_marked);
    if (steps.size() > marked_steps_max) {
      steps.erase(steps.begin() + 1, steps.end() - static_cast<std::ptrdiff_t>(marked_steps_max - 1));
    }
    for (const Step& step : steps) {
      const source::Span span = span_of_place(place_of_step(step));
      if (!(span == sink)) report.label(span, describe_marked(step, is_of_persons()));
    }
  }

  /// Hints that help in this case.
  void add_hints(diagnostics::Diagnostic& report) const {
    if (is_of_persons()) {
      report.hint("if the person who talks to the program may decide this: `trust person` at the top of its file");
    }
    if (const auto read = find_injection()) {
      const std::string parameter = finding_.name.substr(finding_.name.rfind('.') + 1);
      report.hint(fmt::format("decide before you read: move the choice of `{}` above line {}", parameter,
                              place_of_step(*read).line));
      report.hint(
          "or read in a function of its own, called with `Context::new()`: what it returns can be used elsewhere");
    }
    if (const auto decision = find_decision()) {
      report.hint(fmt::format("make the call whatever line {} decides, or decide there by what is trusted",
                              place_of_step(*decision).line));
    }
  }

  /// Where the function of the sink adds the words to a context that a model sees when it chooses the argument.
  [[nodiscard]] std::optional<Step> find_injection() const {
    if (finding_.subject != Subject::Parameter) return std::nullopt;
    std::optional<Step> injected;
    for (const Step& step : finding_.way) {
      if (step.kind == StepKind::Decided) return std::nullopt;
      const bool is_here = step.function == sink_.function && step.pc < sink_.pc;
      if (step.kind == StepKind::Injected && is_here) injected = step;
      if (step.kind == StepKind::Answered && injected) return injected;
    }
    return std::nullopt;
  }

  /// What decides in the function of the sink that it is called.
  [[nodiscard]] std::optional<Step> find_decision() const {
    if (finding_.subject != Subject::Call || finding_.way.empty()) return std::nullopt;
    const Step& last = finding_.way.back();
    return last.kind == StepKind::Decided && last.function == sink_.function ? std::optional(last) : std::nullopt;
  }

  const bytecode::Program& program_;
  const Sink& sink_;
  const Finding& finding_;
  std::span<const source::SourceFile* const> files_;
};

}  // namespace

void report(const bytecode::Program& program, const std::vector<Sink>& sinks, Proofs proofs,
            std::span<const source::SourceFile* const> files, diagnostics::Diagnostics& diagnostics) {
  for (const Sink& sink : sinks) {
    for (const Finding& finding : sink.findings) {
      if (finding.verdict == Verdict::Proved) continue;
      FindingReport(program, sink, finding, files).write(proofs, diagnostics);
    }
  }
}

}  // namespace tenon::flows
