#include "tests/support/machine_run.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "vm/snapshot/snapshot.h"
#include "vm/values/context.h"
#include "vm/values/render.h"

namespace tenon::test {
namespace {

using vm::Machine;
using vm::Request;

std::string show(const Machine& machine, const vm::Value& value) {
  std::string json;
  if (auto done = vm::to_json(value, machine.program().types(), json); !done) return vm::describe(done.error());
  return json;
}

std::string show(Machine& machine, const Request& request) {
  static constexpr const char* kinds[] = {"complete", "fill", "select", "extern"};
  std::string line =
      request.key + " " + kinds[static_cast<std::size_t>(request.kind)] + " " + std::to_string(request.subject);
  for (const vm::Value& argument : request.arguments) line += " " + show(machine, argument);
  if (request.kind != vm::RequestKind::Extern) line += " " + show(machine, request.context);
  return line + " [" + machine.labels().describe(request.label) + "]\n";
}

vm::Step step(Machine& machine, const std::shared_ptr<const vm::LoadedProgram>& program, Drive drive) {
  if (drive == Drive::Straight) return machine.run();
  for (;;) {
    const vm::Step stopped = machine.run(1);
    const std::string bytes = vm::encode(machine);
    auto decoded = vm::decode(program, bytes);
    if (!decoded) {
      ADD_FAILURE() << decoded.error().message << " after " << machine.instructions() << " instructions";
      return vm::Damaged{"no snapshot", ""};
    }
    EXPECT_EQ(vm::encode(*decoded), bytes) << "after " << machine.instructions() << " instructions";
    machine = std::move(*decoded);
    if (!std::holds_alternative<vm::Paused>(stopped)) return stopped;
  }
}

}  // namespace

std::shared_ptr<const vm::LoadedProgram> load(bytecode::Program program) {
  auto loaded = vm::LoadedProgram::load(std::make_shared<const bytecode::Program>(std::move(program)));
  if (!loaded) {
    std::fprintf(stderr, "load: %s\n", loaded.error().message.c_str());
    std::abort();
  }
  return *loaded;
}

RunRecord run_once(const std::shared_ptr<const vm::LoadedProgram>& program, std::vector<vm::Argument> arguments,
                   Drive drive, const Answerer& answerer, const bytecode::Bounds& bounds,
                   std::uint32_t function) {
  Machine machine(program, function, std::move(arguments), bytecode::complete(bounds, bytecode::default_bounds));
  RunRecord record;
  std::vector<Request> open;
  vm::Step end;
  for (;;) {
    end = step(machine, program, drive);
    for (Request& request : machine.take_requests()) {
      record.requests += show(machine, request);
      open.push_back(std::move(request));
    }
    for (const vm::RequestId id : machine.take_cancelled()) {
      record.cancelled += std::to_string(id.number) + " ";
      std::erase_if(open, [&](const Request& request) { return request.id == id; });
    }
    if (!std::holds_alternative<vm::Waiting>(end) || open.empty() || !answerer) break;
    const Request request = std::move(open.back());
    open.pop_back();
    EXPECT_TRUE(machine.resume(request.id, answerer(machine, request)).has_value());
  }
  record.instructions = machine.instructions();
  if (const auto* const finished = std::get_if<vm::Finished>(&end)) {
    record.end = "value " + show(machine, finished->value);
    record.label = machine.labels().describe(vm::whole_label(finished->value, machine.labels()));
  } else if (const auto* const failed = std::get_if<vm::Failed>(&end)) {
    const vm::FailureReport& report = failed->report;
    record.end = "failed " + std::string(types::failure_kind_name(report.kind)) + ": " + report.message + " (" +
                 report.place + "; " + report.blame + ")";
    record.label = machine.labels().describe(report.label);
    record.call_stack = report.call_stack;
  } else if (const auto* const damaged = std::get_if<vm::Damaged>(&end)) {
    record.end = "damaged: " + damaged->message;
  } else {
    record.end = "waiting";
  }
  return record;
}

RunRecord run(const std::shared_ptr<const vm::LoadedProgram>& program, const std::vector<vm::Argument>& arguments,
              const Answerer& answerer, const bytecode::Bounds& bounds, std::uint32_t function) {
  RunRecord straight = run_once(program, arguments, Drive::Straight, answerer, bounds, function);
  const RunRecord snapshots = run_once(program, arguments, Drive::SnapshotEachInstruction, answerer, bounds, function);
  EXPECT_EQ(straight.end, snapshots.end);
  EXPECT_EQ(straight.label, snapshots.label);
  EXPECT_EQ(straight.requests, snapshots.requests);
  EXPECT_EQ(straight.cancelled, snapshots.cancelled);
  EXPECT_EQ(straight.instructions, snapshots.instructions);
  return straight;
}

}  // namespace tenon::test
