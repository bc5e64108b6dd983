#include "bytecode/context_preview.h"

#include <algorithm>
#include <utility>

#include "bytecode/function_preview.h"
#include "bytecode/library.h"

namespace tenon::bytecode {
namespace {

std::vector<std::uint32_t> list_callees(const Program& program, const Function& function) {
  std::vector<std::uint32_t> callees;
  for (const Instruction& i : function.code) {
    const bool is_call = static_cast<Opcode>(i.opcode) == Opcode::Call && i.wide() < program.functions.size();
    if (is_call && std::ranges::find(callees, i.wide()) == callees.end()) callees.push_back(i.wide());
  }
  return callees;
}

/// The program's functions, callers before the functions that they call, except where calls are recursive.
std::vector<std::uint32_t> order_by_calls(const std::vector<std::vector<std::uint32_t>>& callees) {
  std::vector<std::uint32_t> order;
  std::vector<bool> is_visited(callees.size());
  struct Visit {
    std::uint32_t function;
    std::size_t next = 0;
  };
  for (std::uint32_t root = 0; root < callees.size(); ++root) {
    if (is_visited[root]) continue;
    std::vector<Visit> visits{{root}};
    is_visited[root] = true;
    while (!visits.empty()) {
      Visit& visit = visits.back();
      if (visit.next == callees[visit.function].size()) {
        order.push_back(visit.function);
        visits.pop_back();
        continue;
      }
      const std::uint32_t callee = callees[visit.function][visit.next++];
      if (is_visited[callee]) continue;
      is_visited[callee] = true;
      visits.push_back({callee});
    }
  }
  std::ranges::reverse(order);
  return order;
}

class ContextPreview {
 public:
  explicit ContextPreview(const Program& program) : program_(program), calls_(program.functions.size()) {
    for (const TestCase& test : program.tests) tests_.push_back(test.function);
  }

  std::map<std::uint32_t, SitePreview> run() {
    std::vector<std::vector<std::uint32_t>> callees;
    for (const Function& function : program_.functions) callees.push_back(list_callees(program_, function));
    const std::vector<std::uint32_t> order = order_by_calls(callees);
    std::vector<std::size_t> positions(order.size());
    for (std::size_t at = 0; at < order.size(); ++at) positions[order[at]] = at;
    for (const std::uint32_t caller : order) {
      for (const std::uint32_t callee : callees[caller]) {
        if (positions[callee] <= positions[caller]) calls_[callee].is_recursive = true;
      }
    }
    std::map<std::uint32_t, SitePreview> sites;
    for (const std::uint32_t function : order) {
      FunctionPreview preview = preview_function(program_, program_.functions[function], parameters_of(function));
      sites.merge(preview.sites);
      if (std::ranges::find(tests_, function) != tests_.end()) continue;
      for (PreviewCall& call : preview.calls) add_call(std::move(call));
    }
    return sites;
  }

 private:
  /// What the calls of a function have in common.
  struct Calls {
    bool is_called = false;
    bool is_after_failure = true;  ///< of all calls
    bool is_recursive = false;
    KnownValues arguments = {};
  };

  void add_call(PreviewCall call) {
    Calls& calls = calls_[call.function];
    if (calls.is_called && call.is_after_failure && !calls.is_after_failure) return;
    if (!calls.is_called || (calls.is_after_failure && !call.is_after_failure)) {
      calls.is_called = true;
      calls.is_after_failure = call.is_after_failure;
      calls.arguments = std::move(call.arguments);
      return;
    }
    std::erase_if(calls.arguments, [&](const auto& argument) {
      const auto other = call.arguments.find(argument.first);
      return other == call.arguments.end() || other->second != argument.second;
    });
  }

  [[nodiscard]] KnownValues parameters_of(std::uint32_t index) const {
    const Function& function = program_.functions[index];
    const Calls& calls = calls_[index];
    const bool is_called = calls.is_called || calls.is_recursive || function.agent != UINT32_MAX;
    KnownValues parameters;
    for (std::uint16_t at = 0; at < function.parameters.size(); ++at) {
      const bool is_context = function.parameters[at] == types::TypeTable::context;
      if (!is_context) {
        parameters[at] = KnownText{"{{ " + function.parameter_names[at] + " }}", true};
      } else if (is_called) {
        parameters[at] = PreviewEntries{{EntryRole::Data, "<the caller's entries>", true, true}};
      } else {
        parameters[at] = PreviewEntries{};
      }
      if (calls.is_recursive || function.agent != UINT32_MAX) continue;
      const auto known = calls.arguments.find(at);
      if (known == calls.arguments.end()) continue;
      const auto* const entries = std::get_if<PreviewEntries>(&known->second);
      const bool is_empty = entries != nullptr && entries->empty();
      if (is_empty || is_of_library(program_, function)) parameters[at] = known->second;
    }
    return parameters;
  }

  const Program& program_;
  std::vector<std::uint32_t> tests_;
  std::vector<Calls> calls_;  ///< by function
};

}  // namespace

std::map<std::uint32_t, SitePreview> preview_contexts(const Program& program) {
  return ContextPreview(program).run();
}

}  // namespace tenon::bytecode
