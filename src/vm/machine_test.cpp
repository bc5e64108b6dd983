#include "vm/machine.h"

#include <gtest/gtest.h>

#include "tests/support/assembler.h"

namespace tenon::vm {
namespace {

using test::assemble;

std::shared_ptr<const LoadedProgram> load(bytecode::Program program) {
  auto loaded = LoadedProgram::load(std::make_shared<const bytecode::Program>(std::move(program)));
  if (!loaded) ADD_FAILURE() << loaded.error().message;
  return *loaded;
}

TEST(Machine, ComputesFibonacciNumbers) {
  const auto program = load(assemble(R"(
fn fib registers=4 params=i64 result=i64
  LessShort 1 0 2
  JumpUnless 1 @more
  Return 0
@more
  AddI64Short 1 0 -1
  Call 1 fib
  AddI64Short 2 0 -2
  Call 2 fib
  AddI64 1 1 2
  Return 1
)"));
  Machine machine(program, 0, {{Value::integer(20), {}}});
  const Step step = machine.run();
  ASSERT_TRUE(std::holds_alternative<Finished>(step));
  EXPECT_EQ(std::get<Finished>(step).value.as_integer(), 6765);
}

}  // namespace
}  // namespace tenon::vm
