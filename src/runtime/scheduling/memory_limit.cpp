#include "runtime/scheduling/memory_limit.h"

#include <malloc.h>

#include <algorithm>

#include "vm/machine_state.h"
#include "vm/values/value_bytes.h"

namespace tenon::runtime {
namespace {

/// The heap grows at least by this part of the limit between two counts.
constexpr std::uint64_t growth_min_part = 32;

/// What the process has allocated and not freed, as glibc counts it.
std::uint64_t heap_bytes() {
  const struct mallinfo2 information = ::mallinfo2();
  return information.uordblks + information.hblkhd;
}

void add(const vm::MachineState& state, vm::ValueBytes& bytes) {
  for (const auto& [id, fiber] : state.fibers) {
    bytes.add_bytes(sizeof *fiber + fiber->registers.capacity() * sizeof(vm::Value) +
                    fiber->frames.capacity() * sizeof(vm::Frame));
    for (std::size_t at = 0; at < fiber->registers.capacity(); ++at) bytes.add(fiber->registers.data()[at]);
    for (const vm::Value& value : fiber->block.values) bytes.add(value);
    for (const vm::Value* const value : {&fiber->awaited, &fiber->agent_state, &fiber->kept_states}) bytes.add(*value);
  }
  bytes.add_bytes(state.scopes.capacity() * sizeof(vm::BudgetScope));
  bytes.add(state.agent_state_at_end);
  bytes.add(state.kept_states_at_end);
}

void add(const Conversation* conversation, const RunCore* core, vm::ValueBytes& bytes) {
  if (conversation != nullptr) bytes.add(conversation->history());
  if (core == nullptr) return;
  add(core->machine().state(), bytes);
  for (const auto& [key, open] : core->open()) {
    for (const vm::Value& argument : open.request.arguments) bytes.add(argument);
    bytes.add(open.request.context);
  }
}

std::uint64_t count_values(const RunTable& runs, const ParkedRuns& parked) {
  vm::ValueBytes bytes;
  for (const Run& run : runs.all()) {
    if (run.end) {
      if (const auto* const value = std::get_if<vm::Value>(&*run.end)) bytes.add(*value);
    }
    add(run.conversation.get(), run.core.get(), bytes);
  }
  for (const auto& one : parked.all()) add(one->run.conversation.get(), one->run.core.get(), bytes);
  return bytes.total();
}

}  // namespace

MemoryLimit::MemoryLimit(std::uint64_t bytes_max)
    : bytes_max_(bytes_max), heap_lowest_(heap_bytes()), left_(bytes_max) {}

bool MemoryLimit::is_exceeded(RunTable& runs, ParkedRuns& parked) {
  const std::uint64_t heap = heap_bytes();
  heap_lowest_ = std::min(heap_lowest_, heap);
  if (heap - heap_lowest_ < std::max(left_ / 2, bytes_max_ / growth_min_part)) return false;
  std::uint64_t counted = count_values(runs, parked);
  if (counted > bytes_max_ && !parked.all().empty()) {
    parked.clear();
    counted = count_values(runs, parked);
  }
  left_ = bytes_max_ - std::min(counted, bytes_max_);
  heap_lowest_ = heap;
  return counted > bytes_max_;
}

}  // namespace tenon::runtime
