#include "tests/support/random_interactions.h"

#include "base/sha256.h"
#include "vm/execution/tool_sets.h"

namespace tenon::test {

std::string InteractionGenerator::generate() {
  std::string text =
      "extern fn measure(x: i32) -> i32\n"
      "extern fn log(x: i32)\n"
      "fn add(ctx: Context, x: i32, y: i32) -> i32 {\n    \"adding\"!\n    return (x + y) % 1000\n}\n"
      "fn pick(ctx: Context, x: i32) -> i32 { (x * 2) % 1000 }\n"
      "fn note(ctx: Context, x: i32) -> i32 {\n    \"note {{ x }}\"!\n    log(x)\n}\n";
  text += "fn judge(ctx: Context, x: i32) -> i32 {\n    \"judge {{ x }}\"!\n    if x > 7 { return x }\n    x!\n}\n";
  text += "fn deeper(ctx: Context, x: i32) -> i32 {\n" + body(2, 1 + below(3)) + "}\n";
  text += "fn main(ctx: Context, n: i32) -> i32 {\n    n!\n" + body(3, 2 + below(4)) + "}\n";
  return text;
}

std::string InteractionGenerator::body(std::size_t depth, std::size_t statements) {
  std::string text;
  std::string sum = number();
  for (std::size_t at = 0; at < statements; ++at) {
    const std::string value = name();
    if (below(4) == 0) text += "    \"line " + value + "\"!\n";
    text += "    let " + value + " = " + expression(depth) + "\n";
    sum += " + " + value;
  }
  return text + "    return (" + sum + ") % 1000\n";
}

std::string InteractionGenerator::expression(std::size_t depth) {
  if (depth == 0) return below(2) == 0 ? number() : "measure(" + number() + ")";
  switch (below(14)) {
    case 0:
      return number();
    case 1:
      return "measure(" + expression(depth - 1) + ")";
    case 2:
      return "measure(_)";
    case 3:
      return "add(ctx, " + expression(depth - 1) + ", _)";
    case 4:
      return "add(ctx, _, _)";
    case 5:
      return "judge(ctx, " + expression(depth - 1) + ")";
    case 6:
      return "judge(ctx, _)";
    case 7:
      return "note(ctx, " + expression(depth - 1) + ")";
    case 8:
      return "(" + expression(depth - 1) + " catch _ { " + expression(depth - 1) + " })";
    case 9:
      return choice(depth);
    case 10:
    case 11:
      return parallel(depth);
    case 12:
      return "(judge(ctx, " + expression(depth - 1) + ") budget(calls: " + std::to_string(1 + below(3)) +
             ") catch _ { 3 })";
    default:
      return "ask<i32>(\"how many? {{ " + number() + " }}\")";
  }
}

std::string InteractionGenerator::parallel(std::size_t depth) {
  const std::string a = name();
  const std::string b = name();
  if (below(2) == 0) {
    return "{\n    let (" + a + ", " + b + ") = parallel { { \"own\"!\n " + expression(depth - 1) + " }, " +
           expression(depth - 1) + " }\n    (" + a + " + " + b + ") % 1000\n}";
  }
  return "(for " + a + " in [1, 2, 3] parallel(" + std::to_string(1 + below(3)) + ") { (" + a + " + " +
         expression(depth - 1) + ") % 1000 }).len()";
}

std::string InteractionGenerator::choice(std::size_t depth) {
  return "select {\n    add(ctx, " + expression(depth - 1) + ", _) as a => a\n    add(ctx, _, 1) as a => a + 1\n" +
         "    pick(ctx, " + expression(depth - 1) + ") as p => " + expression(depth - 1) +
         " + p\n    measure(_) as m => m\n    ..tools { measure as gauge, judge, add(" + number() +
         ", _) as more, note } as t => t.arguments.len() + t.tool.len()\n    else => " + expression(depth - 1) + "\n}";
}

RecordedAnswerer answer_by_hash(const std::shared_ptr<const runtime::ProgramImage>& image, std::uint32_t seed,
                                std::uint32_t failures_percent, std::uint32_t silences_percent) {
  return [=](const runtime::OpenRequest& open) -> std::optional<vm::Outcome> {
    const Hash hash = sha256(open.request.key + " " + open.described.identity.hex() + " " + std::to_string(seed));
    std::size_t used = 0;
    const auto next = [&](std::uint32_t end) { return hash.bytes[used++ % Hash::size] % end; };
    const std::uint32_t fate = next(100);
    if (fate < silences_percent) return std::nullopt;
    const vm::Usage usage{effects::is_generation(open.described.kind) ? 1U + next(2) : 0U, next(20), 0, next(50)};
    if (fate < silences_percent + failures_percent) {
      return vm::Outcome{vm::EffectFailure{types::FailureKind::ToolFailed, "it failed", "test"}, usage};
    }
    const bytecode::Program& program = image->program();
    const auto number = [&] { return vm::Value::integer(next(10)); };
    const auto numbers = [&](const bytecode::CallShape& shape) {
      std::vector<vm::Value> values;
      for (std::size_t at = 0; at < shape.holes.size(); ++at) values.push_back(number());
      return values;
    };
    switch (open.request.kind) {
      case vm::RequestKind::Extern: {
        const bool is_unit = program.externs[open.request.subject].result == types::TypeTable::unit;
        return vm::Outcome{vm::ReturnedValue{is_unit ? vm::Value::unit() : number()}, usage};
      }
      case vm::RequestKind::Complete:
        return vm::Outcome{vm::ReturnedValue{number()}, usage};
      case vm::RequestKind::Fill:
        return vm::Outcome{vm::FilledArguments{numbers(program.sites[open.request.subject].call)}, usage};
      case vm::RequestKind::Select:
        break;
    }
    const std::vector<vm::SelectOption> options = vm::options_of(open.request, program);
    const std::uint32_t option = next(static_cast<std::uint32_t>(options.size()));
    return vm::Outcome{vm::SelectedClause{option, numbers(*options[option].call)}, usage};
  };
}

}  // namespace tenon::test
