#include "flows/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "diagnostics/kinds.h"
#include "flows/call_text.h"
#include "types/table/type_parts.h"

namespace tenon::flows {
namespace {

/// More places of a way are not marked.
constexpr std::size_t marked_steps_max = 4;
constexpr std::size_t hints_max = 3;

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

/// Writes the diagnostic of one finding, or of several that the same sources reach.
class FindingReport {
 public:
  FindingReport(const bytecode::Program& program, const Sink& sink, const std::vector<const Finding*>& findings,
                std::span<const source::SourceFile* const> files)
      : program_(program), sink_(sink), finding_(*findings.front()), files_(files) {
    for (const Finding* const finding : findings) {
      if (!what_.empty()) what_ += finding == findings.back() ? " and " : ", ";
      what_ += finding->what;
    }
  }

  void write(Proofs proofs, diagnostics::Diagnostics& diagnostics) const {
    const auto& kind = finding_.verdict == Verdict::Refused ? diagnostics::DecidedFromOutside
                       : proofs == Proofs::Required         ? diagnostics::NotProvedTrusted
                                                            : diagnostics::MayBeDecidedFromOutside;
    const source::Span span = span_of_sink();
    auto& report = diagnostics.report(kind, span, what_);
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

  /// Whether the step only carries the words through a module that comes with Tenon.
  [[nodiscard]] bool is_detail(const Step& step) const {
    const bool carries = step.kind == StepKind::Passed || step.kind == StepKind::Returned;
    return carries && program_.sources[place_of_step(step).file].path.starts_with("std/");
  }

  /// Marks where the words come in, and the last places before the sink; of several in a line, the first.
  void mark_way(diagnostics::Diagnostic& report, source::Span sink) const {
    std::vector<Step> steps = finding_.way;
    std::erase_if(steps, [&](const Step& step) { return is_detail(step); });
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

  /// Hints that help in this case, the best ones.
  void add_hints(diagnostics::Diagnostic& report) const {
    std::vector<std::string> hints;
    if (is_of_persons()) {
      hints.emplace_back(
          "if the person who talks to the program may decide this: `trust person` at the top of its file");
    }
    const auto read = find_injection();
    if (read) {
      const std::string parameter = finding_.name.substr(finding_.name.rfind('.') + 1);
      hints.push_back(fmt::format("decide before you read: move the choice of `{}` above line {}", parameter,
                                  place_of_step(*read).line));
    }
    if (const bytecode::Function* const answering = find_answering()) hints.push_back(hint_at_answer(*answering));
    if (const auto decision = find_decision()) {
      hints.push_back(fmt::format("make the call whatever line {} decides, or decide there by what is trusted",
                                  place_of_step(*decision).line));
    }
    if (const bytecode::Extern* const plain = find_plain_read()) {
      hints.push_back(fmt::format("if the program can vouch for what `{}` returns: `-> trusted {}`", plain->name,
                                  program_.types.describe_briefly(plain->result)));
    }
    if (const auto parameter = find_approvable()) {
      hints.push_back(fmt::format("let a person look: `{} else approve`", *parameter));
    }
    if (read) {
      hints.emplace_back(
          "read in a function of its own, called with `Context::new()`: what it returns can be used elsewhere");
    }
    if (hints.size() > hints_max) hints.resize(hints_max);
    for (std::string& hint : hints) report.hint(std::move(hint));
  }

  /// The declaration of the parameter at which a person can be asked; nothing if the extern has no trusted one.
  [[nodiscard]] std::optional<std::string> find_approvable() const {
    if (finding_.subject == Subject::Value) return std::nullopt;
    const bytecode::Extern& callee = program_.externs[program_.functions[sink_.function].code[sink_.pc].wide()];
    if (callee.trusted_parameters.empty()) return std::nullopt;
    const std::uint16_t at =
        finding_.subject == Subject::Parameter ? finding_.parameter : callee.trusted_parameters.front();
    return fmt::format("{}: trusted {}", callee.parameter_names[at],
                       program_.types.describe_briefly(callee.parameters[at]));
  }

  [[nodiscard]] std::string hint_at_answer(const bytecode::Function& answering) const {
    const auto bits = types::information_of(program_.types, answering.result);
    if (!bits) {
      return fmt::format("let it be a choice: `{}` with a result such as `-> trusted \"ann\" | \"bob\"` costs 1 bit",
                         answering.name);
    }
    return fmt::format("let the answer be trusted: `{}` with the result `-> trusted {}` costs {}", answering.name,
                       program_.types.describe_briefly(answering.result),
                       counted(static_cast<std::size_t>(std::ceil(*bits)), "bit"));
  }

  /// The function whose answer by a model decides it: the way ends with its value, or with a decision on it.
  [[nodiscard]] const bytecode::Function* find_answering() const {
    std::vector<Step> way = finding_.way;
    if (!way.empty() && way.back().kind == StepKind::Decided) way.pop_back();
    if (way.size() < 2 || way.back().kind != StepKind::Returned) return nullptr;
    const Step& answered = way[way.size() - 2];
    const bytecode::Function& function = program_.functions[answered.function];
    const auto opcode = static_cast<bytecode::Opcode>(function.code[answered.pc].opcode);
    return answered.kind == StepKind::Answered && opcode == bytecode::Opcode::Complete ? &function : nullptr;
  }

  /// The extern whose result comes here as it is, if it has no parts.
  [[nodiscard]] const bytecode::Extern* find_plain_read() const {
    const auto is_carried = [](const Step& step) {
      return step.kind == StepKind::Read || step.kind == StepKind::Passed || step.kind == StepKind::Returned;
    };
    if (finding_.way.empty() || !std::ranges::all_of(finding_.way, is_carried)) return nullptr;
    const Step& read = finding_.way.front();
    const bytecode::Instruction i = program_.functions[read.function].code[read.pc];
    if (static_cast<bytecode::Opcode>(i.opcode) != bytecode::Opcode::CallExtern) return nullptr;
    const bytecode::Extern& callee = program_.externs[i.wide()];
    const types::TypeId type = program_.types.base(callee.result);
    const bool is_whole = types::is_text(program_.types, type) || types::is_integer(program_.types, type) ||
                          type == types::TypeTable::boolean;
    return callee.builtin_effect == types::BuiltinEffect::Native && is_whole ? &callee : nullptr;
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
  const Finding& finding_;  ///< the first one
  std::string what_;        ///< all of them
  std::span<const source::SourceFile* const> files_;
};

}  // namespace

void report(const bytecode::Program& program, const std::vector<Sink>& sinks, Proofs proofs,
            std::span<const source::SourceFile* const> files, diagnostics::Diagnostics& diagnostics) {
  for (const Sink& sink : sinks) {
    std::vector<std::vector<const Finding*>> groups;
    for (const Finding& finding : sink.findings) {
      if (finding.verdict == Verdict::Proved || finding.verdict == Verdict::Asked) continue;
      const auto group = std::ranges::find_if(groups, [&](const std::vector<const Finding*>& known) {
        return known.front()->verdict == finding.verdict && known.front()->sources == finding.sources;
      });
      if (group == groups.end()) {
        groups.push_back({&finding});
      } else {
        group->push_back(&finding);
      }
    }
    for (const auto& group : groups) FindingReport(program, sink, group, files).write(proofs, diagnostics);
  }
}

}  // namespace tenon::flows
