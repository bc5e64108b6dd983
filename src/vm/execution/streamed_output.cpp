#include "vm/execution/streamed_output.h"

#include <algorithm>
#include <vector>

#include "bytecode/instructions.h"
#include "bytecode/program.h"
#include "types/builtins.h"
#include "vm/execution/agent_prompts.h"
#include "vm/execution/finally_handlers.h"
#include "vm/machine_state.h"

namespace tenon::vm {
namespace {

using bytecode::Instruction;
using bytecode::Opcode;

/// Bounds the search, on all ways together: what a program says follows its answer soon.
constexpr int instructions_max = 256;

/// Whether the instruction only computes values of registers from others. It does not fail, except for arithmetic: what
/// can fail may be there to refuse the text.
bool only_computes(const Instruction& instruction) {
  const auto opcode = static_cast<Opcode>(instruction.opcode);
  switch (opcode) {
    case Opcode::Not:
    case Opcode::IntegerToF64:
    case Opcode::Concatenate:
    case Opcode::Append:
    case Opcode::Template:
    case Opcode::Describe:
    case Opcode::MakeList:
    case Opcode::MakeMap:
    case Opcode::MakeRecord:
    case Opcode::MakeVariant:
    case Opcode::GetField:
    case Opcode::SetField:
    case Opcode::TakeField:
    case Opcode::SetEntry:
    case Opcode::GetCase:
    case Opcode::GetPayload:
    case Opcode::Push:
    case Opcode::Pop:
    case Opcode::RemoveEntry:
    case Opcode::Length:
    case Opcode::NewContext:
    case Opcode::Inject:
    case Opcode::InjectAs:
    case Opcode::TakeState:
      return true;
    case Opcode::CallBuiltin:
      return !types::can_fail(static_cast<types::Builtin>(instruction.b));
    default:
      return (opcode >= Opcode::AddI32 && opcode <= Opcode::NegateF64) ||
             (opcode >= Opcode::Equal && opcode <= Opcode::GreaterEqualShort);
  }
}

/// Follows one value along the instructions that only pass it on, and those between them that only compute others.
class ReturnFlow {
 public:
  ReturnFlow(const MachineState& state, const Fiber& fiber)
      : state_(state),
        fiber_(fiber),
        program_(state.program->program()),
        frames_(fiber.frames),
        frame_(fiber.frames.size() - 1) {}

  [[nodiscard]] bool is_streamed() {
    const Instruction request = code()[frames_[frame_].pc];
    if (request.opcode != static_cast<std::uint16_t>(Opcode::Complete)) return false;
    follow_from(request.a);
    return follow();
  }

 private:
  enum class Step : std::uint8_t { Continue, Streamed, NotStreamed };

  [[nodiscard]] bool follow() {
    for (; left_ > 0 && pc_ < code().size(); --left_) {
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

  [[nodiscard]] const bytecode::Function& function() const {
    return program_.functions[entered_ == bytecode::no_function ? frames_[frame_].function : entered_];
  }
  [[nodiscard]] const std::vector<Instruction>& code() const { return function().code; }
  [[nodiscard]] bool holds(std::uint16_t at) const { return std::find(held_.begin(), held_.end(), at) != held_.end(); }
  void lose(std::uint16_t at) { std::erase(held_, at); }

  /// Continues after the current instruction of the frame, whose result is the value.
  void follow_from(std::uint16_t result) {
    held_ = {result};
    pc_ = frames_[frame_].pc + 1;
    regions_ = regions_around(frame_);
  }

  /// Those of `catch` and `finally`. The end of a `shield` does nothing to a value.
  [[nodiscard]] std::vector<Region> regions_around(std::size_t frame) const {
    const bytecode::Function& function = program_.functions[frames_[frame].function];
    std::vector<Region> regions = regions_at(state_, fiber_, frame);
    std::erase_if(regions, [&](const Region& region) {
      return region.running != nullptr && bytecode::is_shield(function, *region.running);
    });
    return regions;
  }

  /// Whether a `catch` or a `finally` around the current instruction ends before `pc_`. If the text failed while it was
  /// generated, a `catch` would replace what was shown of it; the block of a `finally` runs before the text is output.
  [[nodiscard]] bool has_left_region() const {
    return entered_ == bytecode::no_function &&
           std::ranges::any_of(regions_, [&](const Region& region) { return pc_ < region.begin || pc_ >= region.end; });
  }

  /// Whether a failure of the current instruction would be caught, so that the value may not be the output.
  [[nodiscard]] bool is_caught() const {
    return std::ranges::any_of(function().handlers, [&](const bytecode::Handler& handler) {
      return pc_ >= handler.begin && pc_ < handler.end;
    });
  }

  Step compute(const Instruction& instruction) {
    if (is_caught()) return Step::NotStreamed;
    const bytecode::InstructionInfo* info = bytecode::find_instruction(instruction.opcode);
    const std::uint16_t operands[] = {instruction.a, instruction.b, instruction.c};
    for (std::size_t at = 0; at < info->operands.size(); ++at) {
      const std::uint16_t from = operands[at];
      if (info->operands[at] == bytecode::Operand::Write || info->operands[at] == bytecode::Operand::ReadWrite)
        lose(from);
      // Values may be taken from a window. It is above the variables.
      if (info->operands[at] == bytecode::Operand::Window)
        std::erase_if(held_, [&](std::uint16_t held) { return held >= from; });
    }
    // Its payload is taken from there on.
    if (static_cast<Opcode>(instruction.opcode) == Opcode::MakeVariant)
      std::erase_if(held_, [&](std::uint16_t held) { return held >= instruction.a; });
    return Step::Continue;
  }

  /// Whether the value is streamed if control continues there, which must be further on.
  [[nodiscard]] bool is_streamed_from(std::size_t target) {
    if (target < pc_) return false;
    ReturnFlow other = *this;
    other.pc_ = target;
    const bool is_streamed = other.follow();
    left_ = other.left_;
    return is_streamed;
  }

  Step branch(const Instruction& instruction) {
    const std::int64_t target = static_cast<std::int64_t>(pc_) + instruction.signed_wide();
    return target >= 0 && is_streamed_from(static_cast<std::size_t>(target)) ? Step::Continue : Step::NotStreamed;
  }

  Step branch_to(const bytecode::JumpTable& table) {
    for (const std::uint32_t target : table.targets) {
      if (!is_streamed_from(target)) return Step::NotStreamed;
    }
    return is_streamed_from(table.otherwise) ? Step::Streamed : Step::NotStreamed;
  }

  void move(std::uint16_t to, std::uint16_t from) {
    const bool is_held = holds(from);
    lose(to);
    if (is_held) held_.push_back(to);
  }

  Step step(const Instruction& instruction) {
    if (has_left_region()) return Step::NotStreamed;
    if (only_computes(instruction)) {
      const Step step = compute(instruction);
      ++pc_;
      return step;
    }
    ++pc_;
    switch (static_cast<Opcode>(instruction.opcode)) {
      case Opcode::Move:
        move(instruction.a, instruction.b);
        return Step::Continue;
      case Opcode::Take:
        move(instruction.a, instruction.b);
        if (instruction.a != instruction.b) lose(instruction.b);
        return Step::Continue;
      case Opcode::LoadConstant:
      case Opcode::LoadUnit:
      case Opcode::LoadBoolean:
      case Opcode::LoadInteger:
      case Opcode::LoadCase:
      case Opcode::LoadState:
      case Opcode::Render:
        lose(instruction.a);
        return Step::Continue;
      case Opcode::StoreState:
      case Opcode::StoreKept:
      case Opcode::LeaveBudget:
      case Opcode::EndShield:
        return Step::Continue;
      case Opcode::Jump:
        if (instruction.signed_wide() < 0) return Step::NotStreamed;
        pc_ += static_cast<std::size_t>(instruction.signed_wide());
        return Step::Continue;
      case Opcode::JumpIf:
      case Opcode::JumpUnless:
        return branch(instruction);
      case Opcode::Switch:
        return branch_to(program_.jump_tables[instruction.wide()]);
      case Opcode::Unreachable:
        return Step::Streamed;
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
    if (!holds(value) || entered_ != bytecode::no_function || !regions_.empty()) return Step::NotStreamed;
    // A turn that was handed off replaces the one that handed it off.
    bool is_last = true;
    for (std::size_t index = 0; index <= frame_ && is_last; ++index) {
      is_last = is_turn(program_, frames_[index].function) && regions_around(index).empty();
    }
    if (frame_ == 0 || is_last) return Step::Streamed;
    --frame_;
    const Instruction call = code()[frames_[frame_].pc];
    if (call.opcode != static_cast<std::uint16_t>(Opcode::Call)) return Step::NotStreamed;
    follow_from(call.a);
    return Step::Continue;
  }

  const MachineState& state_;
  const Fiber& fiber_;
  const bytecode::Program& program_;
  const std::vector<Frame>& frames_;
  std::size_t frame_;                              ///< whose function is followed, while none is entered
  std::uint32_t entered_ = bytecode::no_function;  ///< one that will be called
  std::size_t pc_ = 0;
  int left_ = instructions_max;
  std::vector<std::uint16_t> held_;  ///< registers that hold the value
  std::vector<Region> regions_;      ///< around the frame's current instruction
};

}  // namespace

bool is_streamed_output(const MachineState& state, const Fiber& fiber) {
  return fiber.parent.number == FiberId::none && ReturnFlow(state, fiber).is_streamed();
}

}  // namespace tenon::vm
