#include "vm/execution/streamed_output.h"

#include <algorithm>
#include <vector>

#include "bytecode/program.h"
#include "vm/execution/agent_prompts.h"
#include "vm/machine_state.h"

namespace tenon::vm {
namespace {

using bytecode::Instruction;
using bytecode::Opcode;

/// Bounds the search: what a program says follows its answer immediately.
constexpr int instructions_max = 32;

/// Follows one value along the instructions that only pass it on.
class ReturnFlow {
 public:
  ReturnFlow(const MachineState& state, const Fiber& fiber)
      : program_(state.program->program()), frames_(fiber.frames), frame_(fiber.frames.size() - 1) {}

  [[nodiscard]] bool is_streamed() {
    const Instruction request = code()[frames_[frame_].pc];
    if (request.opcode != static_cast<std::uint16_t>(Opcode::Complete)) return false;
    held_ = {request.a};
    pc_ = frames_[frame_].pc + 1;
    for (int count = 0; count < instructions_max && pc_ < code().size(); ++count) {
      switch (step(code()[pc_])) {
        case Step::Continue:
          continue;
        case Step::Streamed:
          return true;
        case Step::NotStreamed:
          return false;
      }
    }
    return false;
  }

 private:
  enum class Step : std::uint8_t { Continue, Streamed, NotStreamed };

  [[nodiscard]] const std::vector<Instruction>& code() const {
    return program_.functions[entered_ == bytecode::no_function ? frames_[frame_].function : entered_].code;
  }
  [[nodiscard]] bool holds(std::uint16_t at) const { return std::find(held_.begin(), held_.end(), at) != held_.end(); }
  void lose(std::uint16_t at) { std::erase(held_, at); }

  Step step(const Instruction& instruction) {
    ++pc_;
    switch (static_cast<Opcode>(instruction.opcode)) {
      case Opcode::Move: {
        const bool is_held = holds(instruction.b);
        lose(instruction.a);
        if (is_held) held_.push_back(instruction.a);
        return Step::Continue;
      }
      case Opcode::LoadConstant:
      case Opcode::LoadState:
      case Opcode::Render:
        lose(instruction.a);
        return Step::Continue;
      case Opcode::StoreState:
      case Opcode::StoreKept:
        return Step::Continue;
      case Opcode::Call:
        return enter(instruction);
      case Opcode::CallExtern:
        return tell(instruction);
      case Opcode::Return:
        return leave(instruction.a);
      default:
        return Step::NotStreamed;
    }
  }

  /// A function that is given the value first, such as one that emits it.
  Step enter(const Instruction& call) {
    if (!holds(call.a) || entered_ != bytecode::no_function) return Step::NotStreamed;
    entered_ = call.wide();
    pc_ = 0;
    held_ = {0};
    return Step::Continue;
  }

  Step tell(const Instruction& call) {
    switch (program_.externs[call.wide()].builtin_effect) {
      case types::BuiltinEffect::Emitted:
        return holds(call.a) && !is_in_called_agent() ? Step::Streamed : Step::NotStreamed;
      case types::BuiltinEffect::AgentReturned:
      case types::BuiltinEffect::BlockLeft:
        lose(call.a);
        return Step::Continue;
      default:
        return Step::NotStreamed;
    }
  }

  /// What an agent says that another one has called, that one hears.
  [[nodiscard]] bool is_in_called_agent() const {
    return std::any_of(frames_.begin(), frames_.begin() + static_cast<std::ptrdiff_t>(frame_) + 1,
                       [&](const Frame& frame) { return program_.functions[frame.function].is_agent_run; });
  }

  Step leave(std::uint16_t value) {
    if (!holds(value) || entered_ != bytecode::no_function) return Step::NotStreamed;
    // A turn that was handed off replaces the one that handed it off.
    const bool is_last = std::all_of(frames_.begin(), frames_.begin() + static_cast<std::ptrdiff_t>(frame_) + 1,
                                     [&](const Frame& frame) { return is_turn(program_, frame.function); });
    if (frame_ == 0 || is_last) return Step::Streamed;
    --frame_;
    const Instruction call = code()[frames_[frame_].pc];
    if (call.opcode != static_cast<std::uint16_t>(Opcode::Call)) return Step::NotStreamed;
    held_ = {call.a};
    pc_ = frames_[frame_].pc + 1;
    return Step::Continue;
  }

  const bytecode::Program& program_;
  const std::vector<Frame>& frames_;
  std::size_t frame_;                              ///< whose function is followed, while none is entered
  std::uint32_t entered_ = bytecode::no_function;  ///< one that will be called
  std::size_t pc_ = 0;
  std::vector<std::uint16_t> held_;  ///< registers that hold the value
};

}  // namespace

bool is_streamed_output(const MachineState& state, const Fiber& fiber) {
  return fiber.parent.number == FiberId::none && ReturnFlow(state, fiber).is_streamed();
}

}  // namespace tenon::vm
