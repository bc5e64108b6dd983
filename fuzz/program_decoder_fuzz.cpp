// Arbitrary bytes are rejected, or decode to a program that passes the verifier: it survives a round trip, and runs for
// a while.
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/ensure.h"
#include "bytecode/codec.h"
#include "bytecode/disassembler.h"
#include "vm/machine.h"
#include "vm/snapshot/snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenon;
  auto program = bytecode::decode({reinterpret_cast<const char*>(data), size});
  if (!program) return 0;
  const std::string bytes = bytecode::encode(*program);
  auto again = bytecode::decode(bytes);
  ENSURE(again.has_value() && bytecode::encode(*again) == bytes);
  static_cast<void>(bytecode::disassemble(*program));
  auto loaded = vm::LoadedProgram::load(std::make_shared<const bytecode::Program>(std::move(*program)));
  if (!loaded) return 0;
  for (std::uint32_t function = 0; function < loaded.value()->callables().size(); ++function) {
    std::vector<vm::Argument> arguments(loaded.value()->callables()[function].parameter_count);
    vm::Machine machine(*loaded, function, std::move(arguments),
                        bytecode::complete({.depth = 100}, bytecode::default_bounds));
    static_cast<void>(machine.run(1'000));
    auto decoded = vm::decode(*loaded, vm::encode(machine));
    ENSURE(decoded.has_value());
    static_cast<void>(decoded->run(1'000));
    if (function > 8) break;
  }
  return 0;
}
