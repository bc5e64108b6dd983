#include "bytecode/reachable.h"

#include <map>

#include "base/ensure.h"

namespace tenon::bytecode {
namespace {

/// Walks from function to function.
class Walk {
 public:
  explicit Walk(const Program& program) : program_(program), is_reached_(program.functions.size(), false) {
    for (const Tool& tool : program.tools) tools_.emplace(tool.record.index, tool.function);
  }

  void reach(std::uint32_t function) {
    if (function == no_function || is_reached_[function]) return;
    is_reached_[function] = true;
    pending_.push_back(function);
  }

  std::vector<bool> finish() {
    while (!pending_.empty()) {
      const std::uint32_t function = pending_.back();
      pending_.pop_back();
      for (const Instruction& instruction : program_.functions[function].code) follow(instruction);
    }
    return std::move(is_reached_);
  }

 private:
  void follow(const Instruction& instruction) {
    const InstructionInfo* const info = find_instruction(instruction.opcode);
    ENSURE(info != nullptr);
    const std::uint16_t places[] = {instruction.a, instruction.b, instruction.c};
    for (std::size_t at = 0; at < info->operands.size(); ++at) {
      switch (info->operands[at]) {
        case Operand::Function:
          reach(instruction.wide());
          break;
        case Operand::Site:
          reach(program_.sites[instruction.wide()].guard);
          break;
        case Operand::Type: {
          const auto [first, last] = tools_.equal_range(places[at]);
          for (auto tool = first; tool != last; ++tool) reach(tool->second);
          break;
        }
        case Operand::Extern:
          if (program_.externs[instruction.wide()].builtin_effect == types::BuiltinEffect::Native) reach_agents();
          break;
        default:
          break;
      }
    }
  }

  void reach_agents() {
    if (are_agents_reached_) return;
    are_agents_reached_ = true;
    for (const Agent& agent : program_.agents) {
      reach(agent.run);
      reach(agent.take_over);
    }
  }

  const Program& program_;
  std::multimap<std::uint32_t, std::uint32_t> tools_;  ///< by the type of its record: the function that calls it
  std::vector<bool> is_reached_;
  std::vector<std::uint32_t> pending_;
  bool are_agents_reached_ = false;
};

}  // namespace

std::vector<bool> find_reachable_functions(const Program& program, std::span<const std::uint32_t> roots) {
  Walk walk(program);
  for (const std::uint32_t root : roots) walk.reach(root);
  return walk.finish();
}

}  // namespace tenon::bytecode
