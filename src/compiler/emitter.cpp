#include "compiler/emitter.h"

#include <algorithm>

#include "diagnostics/kinds.h"

namespace tenon::compiler {

std::size_t Emitter::emit(Opcode opcode, std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  if (function_.lines.empty() || !(function_.lines.back().place == place_)) {
    function_.lines.push_back({static_cast<std::uint32_t>(here()), place_});
  }
  function_.code.push_back({static_cast<std::uint16_t>(opcode), a, b, c});
  return here() - 1;
}

std::size_t Emitter::emit_wide(Opcode opcode, std::uint16_t a, std::uint32_t wide) {
  return emit(opcode, a, static_cast<std::uint16_t>(wide & 0xFFFFU), static_cast<std::uint16_t>(wide >> 16U));
}

void Emitter::set_wide(std::size_t at, std::uint32_t wide) {
  function_.code[at].b = static_cast<std::uint16_t>(wide & 0xFFFFU);
  function_.code[at].c = static_cast<std::uint16_t>(wide >> 16U);
}

void Emitter::land_at(std::size_t jump, std::size_t target) {
  set_wide(jump, static_cast<std::uint32_t>(static_cast<std::int32_t>(target) - static_cast<std::int32_t>(jump) - 1));
}

void Emitter::land_all(const std::vector<std::size_t>& jumps) {
  for (const std::size_t jump : jumps) land(jump);
}

Register Emitter::allocate(std::size_t count) {
  const std::uint32_t first = next_;
  next_ += static_cast<std::uint32_t>(count);
  if (next_ > registers_per_function_max) {
    if (!is_too_large_) {
      program_.diagnostics().report(diagnostics::TooLarge, named_, "values in one function",
                                    std::size_t{registers_per_function_max});
    }
    is_too_large_ = true;
    next_ = static_cast<std::uint32_t>(std::min<std::size_t>(count, registers_per_function_max));
    return 0;
  }
  function_.register_count = std::max(function_.register_count, static_cast<std::uint16_t>(next_));
  return static_cast<Register>(first);
}

Register Emitter::allocate_window(Register to, std::size_t count) {
  if (!is_newest(to)) return allocate(std::max<std::size_t>(count, 1));
  if (count > 1) allocate(count - 1);
  return to;
}

void Emitter::name_variable(Register at, const std::string& name) {
  // What the compiler adds has a name that no text can have.
  if (name.empty() || name.find('$') != std::string::npos) return;
  open_variables_.push_back(function_.variables.size());
  function_.variables.push_back({name, at, static_cast<std::uint32_t>(here()), 0});
}

void Emitter::end_variables(std::size_t from) {
  for (std::size_t open = from; open < open_variables_.size(); ++open) {
    function_.variables[open_variables_[open]].end = static_cast<std::uint32_t>(here());
  }
  open_variables_.resize(from);
}

void Emitter::load_string(Register to, std::string text) {
  emit_wide(Opcode::LoadConstant, to, program_.constant(std::move(text)));
}

void Emitter::load_integer(Register to, std::int64_t value) {
  if (value >= INT32_MIN && value <= INT32_MAX) {
    emit_wide(Opcode::LoadInteger, to, static_cast<std::uint32_t>(static_cast<std::int32_t>(value)));
  } else {
    emit_wide(Opcode::LoadConstant, to, program_.constant(value));
  }
}

void Emitter::add_handler(std::size_t begin, std::size_t end, std::size_t target, Register failure) {
  if (begin == end) return;  // nothing can fail
  function_.handlers.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                                static_cast<std::uint32_t>(target), failure, open_budgets_});
}

}  // namespace tenon::compiler
