// Runs an assembled program: `bench_vm FILE.tna` prints its value as JSON and, on stderr, the number of instructions
// and the milliseconds.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/assembler.h"
#include "vm/machine.h"
#include "vm/values/render.h"

int main(int argc, char** argv) {
  using namespace tenon;
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_vm FILE.tna\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto program = vm::LoadedProgram::load(std::make_shared<const bytecode::Program>(test::assemble(text)));
  if (!program) {
    std::fprintf(stderr, "%s\n", program.error().message.c_str());
    return 1;
  }
  const auto begin = std::chrono::steady_clock::now();
  vm::Machine machine(*program, 0, {});
  const vm::Step end = machine.run();
  const double milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const auto* const finished = std::get_if<vm::Finished>(&end);
  if (finished == nullptr) {
    std::fprintf(stderr, "the program did not finish\n");
    return 1;
  }
  std::string json;
  if (!vm::to_json(finished->value, program.value()->types(), json)) return 1;
  std::printf("%s\n", json.c_str());
  std::fprintf(stderr, "%llu instructions in %.1f ms\n", static_cast<unsigned long long>(machine.instructions()),
               milliseconds);
  return 0;
}
