// What people read about flows.

#include <iterator>

#include "flows/flows.h"

namespace tenon::flows {
namespace {

/// `f` in backticks, for the call at the step.
std::string name_of_callee(const bytecode::Program& program, const Step& step) {
  const bytecode::Instruction i = program.functions[step.function].code[step.pc];
  switch (static_cast<bytecode::Opcode>(i.opcode)) {
    case bytecode::Opcode::Call:
      return "`" + program.functions[i.wide()].name + "`";
    case bytecode::Opcode::CallExtern:
      return "`" + program.externs[i.wide()].name + "`";
    default:
      return "a tool";
  }
}

std::string describe_read(const bytecode::Program& program, const Step& step) {
  const bytecode::Instruction i = program.functions[step.function].code[step.pc];
  const bool is_call = static_cast<bytecode::Opcode>(i.opcode) == bytecode::Opcode::CallExtern;
  if (!is_call) return "a person has said it";
  const bytecode::Extern& callee = program.externs[i.wide()];
  return types::asks_person(callee.builtin_effect) ? "a person answers it" : "`" + callee.name + "` returns it";
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::Proved:
      return "proved";
    case Verdict::Tested:
      return "tested";
    case Verdict::Refused:
      return "refused";
    case Verdict::Asked:
      return "asked";
  }
  return "";
}

std::string_view way_up_name(WayUp::Kind kind) {
  switch (kind) {
    case WayUp::Kind::Narrow:
      return "narrow";
    case WayUp::Kind::Endorsed:
      return "endorsed";
    case WayUp::Kind::Approved:
      return "approved";
  }
  return "";
}

std::string_view step_name(StepKind kind) {
  switch (kind) {
    case StepKind::Read:
      return "read";
    case StepKind::Injected:
      return "injected";
    case StepKind::Answered:
      return "answered";
    case StepKind::Decided:
      return "decided";
    case StepKind::Passed:
      return "passed";
    case StepKind::Returned:
      return "returned";
    case StepKind::Kept:
      return "kept";
    case StepKind::Failed:
      return "failed";
  }
  return "";
}

std::string describe(const bytecode::Program& program, const Step& step) {
  switch (step.kind) {
    case StepKind::Read:
      return describe_read(program, step);
    case StepKind::Injected:
      return "it is added to a context";
    case StepKind::Answered:
      return "a model answers with it before its eyes";
    case StepKind::Decided:
      return "it decides what happens";
    case StepKind::Passed:
      return "it is passed to " + name_of_callee(program, step);
    case StepKind::Returned:
      return name_of_callee(program, step) + " returns it";
    case StepKind::Kept:
      return "the agent keeps it";
    case StepKind::Failed:
      return "a failure with it is handled";
  }
  return "";
}

std::string describe(const bytecode::Program& program, Source source) {
  return source.callee == Source::person ? "person" : "extern " + program.externs[source.callee].name;
}

}  // namespace tenon::flows
