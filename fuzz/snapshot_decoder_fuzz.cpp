// Arbitrary bytes are rejected as a snapshot of the sample program, or decode to a machine that can be encoded and run
// with any outcomes.
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/ensure.h"
#include "tests/support/sample_program.h"
#include "vm/machine.h"
#include "vm/snapshot/snapshot.h"

namespace {

using namespace tenon;

std::shared_ptr<const vm::LoadedProgram> sample() {
  auto loaded = vm::LoadedProgram::load(std::make_shared<const bytecode::Program>(test::sample_program()));
  ENSURE(loaded.has_value());
  return *loaded;
}

vm::Outcome answer(const vm::Request& request) {
  switch (request.kind) {
    case vm::RequestKind::Extern:
    case vm::RequestKind::Complete:
      return {vm::ReturnedValue{vm::Value::string("text")}, {}};
    case vm::RequestKind::Fill:
      return {vm::FilledArguments{{vm::Value::integer(1)}}, {}};
    case vm::RequestKind::Select:
      return {vm::SelectedClause{0, {vm::Value::integer(1)}}, {}};
  }
  return {vm::EffectFailure{}, {}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::shared_ptr<const vm::LoadedProgram> program = sample();
  auto machine = vm::decode(program, {reinterpret_cast<const char*>(data), size});
  if (!machine) return 0;
  const std::string bytes = vm::encode(*machine);
  auto again = vm::decode(program, bytes);
  ENSURE(again.has_value() && vm::encode(*again) == bytes);
  for (int round = 0; round < 20; ++round) {
    const vm::Step step = machine->run(1'000);
    static_cast<void>(machine->take_requests());
    static_cast<void>(machine->take_cancelled());
    if (!std::holds_alternative<vm::Waiting>(step) && !std::holds_alternative<vm::Paused>(step)) break;
    const std::vector<vm::Request> pending = machine->pending_requests();
    if (!pending.empty()) static_cast<void>(machine->resume(pending.front().id, answer(pending.front())));
  }
  return 0;
}
