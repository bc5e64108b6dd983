#pragma once

#include <cstdint>
#include <memory>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "journal/store.h"

namespace tenon::cli {

/// Each returns the process's exit code.
int run(const RunCommand& command, const Environment& environment);
int chat(const ChatCommand& command, const Environment& environment);
/// Also `tenon studio`.
int serve(const ServeCommand& command, const Environment& environment);
int resume(const ResumeCommand& command, const Environment& environment);
/// Continues a fork of which this connection is the owner, because it has stored it. `known_taken` receives how many
/// outcomes the fork has taken from its original run after it had started.
int continue_fork(const ResumeCommand& command, std::unique_ptr<journal::StoreConnection> store,
                  std::uint64_t& known_taken, const Environment& environment);
int cancel(const CancelCommand& command, const Environment& environment);
int runs(const RunsCommand& command, const Environment& environment);
int store(const StoreCommand& command, const Environment& environment);
int trace(const TraceCommand& command, const Environment& environment);
int replay(const ReplayCommand& command, const Environment& environment);
int fork(const ForkCommand& command, const Environment& environment);
int check(const CheckCommand& command, const Environment& environment);
int format(const FormatCommand& command, const Environment& environment);
int test(const TestCommand& command, const Environment& environment);
int show(const ShowCommand& command, const Environment& environment);
int plan(const PlanCommand& command, const Environment& environment);
int edit(const EditCommand& command, const Environment& environment);
int explain(const ExplainCommand& command, const Environment& environment);
int explain_flow(const ExplainFlowCommand& command, const Environment& environment);
/// These replace this process by a command of the Python package.
int stubs(const StubsCommand& command, const Environment& environment);
int ray(const RayCommand& command, const Environment& environment);

}  // namespace tenon::cli
