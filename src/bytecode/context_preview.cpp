#include "bytecode/context_preview.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <tuple>
#include <utility>

#include "bytecode/function_preview.h"
#include "bytecode/library.h"

namespace tenon::bytecode {
namespace {

/// More ways of calling one function of a library than real programs have; the others are shown as one.
constexpr std::size_t ways_max = 24;

PreviewEntries callers_entries() {
  return {{EntryRole::Data, "<the caller's entries>", true, true}};
}

/// What the agent is instructed, as one entry; nothing without instructions.
std::optional<PreviewEntry> preview_instructions(const Program& program, const Agent& agent) {
  if (agent.instructions >= program.functions.size()) return std::nullopt;
  const FunctionPreview preview =
      preview_function(program, program.functions[agent.instructions], {{0, PreviewEntries{}}});
  PreviewEntry joined{EntryRole::Instructions, {}, true, false};
  for (const PreviewEntry& entry : preview.entries_at_end.value_or(PreviewEntries())) {
    if (!joined.text.empty()) joined.text += '\n';
    if (!entry.is_certain) joined.text += in_some_runs;
    joined.text += entry.text;
    joined.has_unknown = joined.has_unknown || entry.has_unknown;
  }
  return joined.text.empty() ? std::nullopt : std::optional(std::move(joined));
}

/// The entries with which a turn of the agent begins. `input`: the name of what a person has said.
PreviewEntries entries_of_turn(const Program& program, const Agent& agent, const std::string& input) {
  PreviewEntries entries;
  if (auto instructions = preview_instructions(program, agent)) entries.push_back(std::move(*instructions));
  entries.push_back({EntryRole::Person, "{{ the conversation before }}", false, true});
  entries.push_back({EntryRole::Person, "{{ " + input + " }}", true, true});
  return entries;
}

/// The functions with which a run may begin: of each name the first one of the entry file, or of another file of the
/// program, and what agents consist of. All others run only if these call them.
std::vector<std::uint32_t> list_starts(const Program& program) {
  std::map<std::string_view, std::uint32_t> named;
  std::set<std::uint32_t> tests;
  for (const TestCase& test : program.tests) tests.insert(test.function);
  for (std::uint32_t at = 0; at < program.functions.size(); ++at) {
    const Function& function = program.functions[at];
    // Instances of generic functions, and parts that the compiler makes, have other characters in their names.
    const bool is_declared = function.name.find_first_of("< ") == std::string::npos;
    if (!is_declared || tests.contains(at) || function.agent != UINT32_MAX || is_of_library(program, function)) {
      continue;
    }
    const auto [found, is_new] = named.emplace(function.name, at);
    const bool is_nearer = function.place.file == 0 && program.functions[found->second].place.file != 0;
    if (!is_new && is_nearer) found->second = at;
  }
  std::vector<std::uint32_t> starts;
  for (const auto& [name, function] : named) starts.push_back(function);
  for (const Agent& agent : program.agents) {
    for (const std::uint32_t function :
         {agent.turn, agent.initial_state, agent.instructions, agent.run, agent.take_over}) {
      if (function < program.functions.size()) starts.push_back(function);
    }
  }
  return starts;
}

/// The functions that a function calls or passes on as tools.
std::set<std::uint32_t> list_callees(const Program& program, const Function& function) {
  std::set<std::uint32_t> callees;
  for (const Instruction& i : function.code) {
    const auto opcode = static_cast<Opcode>(i.opcode);
    if (opcode == Opcode::Call && i.wide() < program.functions.size()) callees.insert(i.wide());
    if (opcode != Opcode::MakeRecord) continue;
    for (const Tool& tool : program.tools) {
      if (tool.record.index == i.c) callees.insert(tool.function);
    }
  }
  return callees;
}

/// Callers before what they call, except where calls are recursive.
std::vector<std::uint32_t> order_by_calls(const std::vector<std::vector<std::uint32_t>>& callees) {
  std::vector<std::uint32_t> order;
  std::vector<bool> is_visited(callees.size());
  struct Visit {
    std::uint32_t caller;
    std::size_t next = 0;
  };
  for (std::uint32_t root = 0; root < callees.size(); ++root) {
    if (is_visited[root]) continue;
    std::vector<Visit> visits{{root}};
    is_visited[root] = true;
    while (!visits.empty()) {
      Visit& visit = visits.back();
      if (visit.next == callees[visit.caller].size()) {
        order.push_back(visit.caller);
        visits.pop_back();
        continue;
      }
      const std::uint32_t callee = callees[visit.caller][visit.next++];
      if (is_visited[callee]) continue;
      is_visited[callee] = true;
      visits.push_back({callee});
    }
  }
  std::ranges::reverse(order);
  return order;
}

/// The functions of the program are previewed in groups: what one declaration is compiled to for different strategies
/// is called in the same ways. Those of libraries are previewed for each way in which they are called.
class ContextPreview {
 public:
  explicit ContextPreview(const Program& program)
      : program_(program), is_reached_(program.functions.size()), ways_(program.functions.size()) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string_view>, std::uint32_t> numbers;
    for (std::uint32_t at = 0; at < program.functions.size(); ++at) {
      const Function& function = program.functions[at];
      const auto next = static_cast<std::uint32_t>(groups_.size());
      const auto [found, is_new] =
          numbers.try_emplace({function.place.file, function.place.line, function.place.column, function.name}, next);
      if (is_new) groups_.emplace_back();
      groups_[found->second].functions.push_back(at);
      group_of_.push_back(found->second);
    }
    for (const Agent& agent : program.agents) {
      if (agent.turn < program.functions.size()) turns_.emplace(agent.turn, &agent);
    }
  }

  ProgramPreview run() {
    for (const std::uint32_t start : list_starts(program_)) is_reached_[start] = true;
    const std::vector<std::uint32_t> order = order_groups();
    // Further passes find functions that only recursive calls or libraries reach.
    for (bool is_any = true; is_any;) {
      is_any = false;
      for (const std::uint32_t group : order) is_any |= preview_group(groups_[group]);
      preview_ways();
    }
    return std::move(found_);
  }

 private:
  /// Functions with one declaration, and what their calls have in common.
  struct Group {
    std::vector<std::uint32_t> functions;
    std::set<std::uint32_t> previewed;
    bool is_called = false;
    bool is_after_failure = true;  ///< of all calls
    bool is_recursive = false;
    KnownValues arguments = {};
  };

  std::vector<std::uint32_t> order_groups() {
    std::vector<std::vector<std::uint32_t>> callees(groups_.size());
    for (std::uint32_t group = 0; group < groups_.size(); ++group) {
      for (const std::uint32_t function : groups_[group].functions) {
        for (const std::uint32_t callee : list_callees(program_, program_.functions[function])) {
          if (std::ranges::find(callees[group], group_of_[callee]) == callees[group].end()) {
            callees[group].push_back(group_of_[callee]);
          }
        }
      }
    }
    std::vector<std::uint32_t> order = order_by_calls(callees);
    std::vector<std::size_t> positions(order.size());
    for (std::size_t at = 0; at < order.size(); ++at) positions[order[at]] = at;
    for (const std::uint32_t caller : order) {
      for (const std::uint32_t callee : callees[caller]) {
        if (positions[callee] <= positions[caller]) groups_[callee].is_recursive = true;
      }
    }
    return order;
  }

  /// Whether anything was previewed.
  bool preview_group(Group& group) {
    bool is_any = false;
    for (const std::uint32_t at : group.functions) {
      const Function& function = program_.functions[at];
      if (!is_reached_[at] || is_of_library(program_, function) || !group.previewed.insert(at).second) continue;
      is_any = true;
      add(preview_function(program_, function, parameters_of(at, group)));
    }
    return is_any;
  }

  void add(FunctionPreview preview) {
    for (auto& [site, asked] : preview.sites) {
      std::vector<SitePreview>& ways = found_.sites[site];
      if (std::ranges::find(ways, asked) == ways.end()) ways.push_back(std::move(asked));
    }
    for (const std::uint32_t tool : preview.tools) {
      // Nothing is known of the arguments with which a model calls it.
      if (found_.tools.insert(tool).second) add_call({program_.tools[tool].function, {}, false});
    }
    for (PreviewCall& call : preview.calls) add_call(std::move(call));
  }

  void add_call(PreviewCall call) {
    if (is_of_library(program_, program_.functions[call.function])) {
      (call.is_after_failure ? after_failures_ : open_).push_back(std::move(call));
      return;
    }
    is_reached_[call.function] = true;
    Group& group = groups_[group_of_[call.function]];
    if (group.is_called && call.is_after_failure && !group.is_after_failure) return;
    if (!group.is_called || (group.is_after_failure && !call.is_after_failure)) {
      group.is_called = true;
      group.is_after_failure = call.is_after_failure;
      group.arguments = std::move(call.arguments);
      return;
    }
    for (auto argument = group.arguments.begin(); argument != group.arguments.end();) {
      const auto other = call.arguments.find(argument->first);
      const bool is_known = other != call.arguments.end() && merge_arguments(argument->second, other->second);
      argument = is_known ? std::next(argument) : group.arguments.erase(argument);
    }
  }

  /// What is known of an argument of both calls; false if nothing is.
  static bool merge_arguments(KnownValue& one, const KnownValue& other) {
    auto* const entries = std::get_if<PreviewEntries>(&one);
    const auto* const others = std::get_if<PreviewEntries>(&other);
    if (entries == nullptr || others == nullptr) return one == other;
    *entries = merge_entries(*entries, *others);
    return true;
  }

  /// Calls of functions of libraries. What follows a failure is shown only where nothing else leads to.
  void preview_ways() {
    while (!open_.empty() || !after_failures_.empty()) {
      const bool is_after_failure = open_.empty();
      std::deque<PreviewCall>& calls = is_after_failure ? after_failures_ : open_;
      PreviewCall call = std::move(calls.front());
      calls.pop_front();
      std::vector<KnownValues>& ways = ways_[call.function];
      if (is_after_failure && !ways.empty()) continue;
      if (ways.size() >= ways_max) call.arguments.clear();
      if (ways.size() > ways_max || std::ranges::find(ways, call.arguments) != ways.end()) continue;
      ways.push_back(call.arguments);
      const Function& function = program_.functions[call.function];
      KnownValues parameters = unknown_parameters(function, true);
      for (auto& [at, known] : call.arguments) parameters[at] = std::move(known);
      add(preview_function(program_, function, parameters));
    }
  }

  static KnownValues unknown_parameters(const Function& function, bool is_called) {
    KnownValues parameters;
    for (std::uint16_t at = 0; at < function.parameters.size(); ++at) {
      if (function.parameters[at] != types::TypeTable::context) {
        parameters[at] = KnownText{"{{ " + function.parameter_names[at] + " }}", true};
      } else {
        parameters[at] = is_called ? callers_entries() : PreviewEntries{};
      }
    }
    return parameters;
  }

  /// A context that is empty in all calls is shown as it is, and those of an agent's functions as they are called.
  [[nodiscard]] KnownValues parameters_of(std::uint32_t at, const Group& group) const {
    const Function& function = program_.functions[at];
    const bool is_of_agent = function.agent != UINT32_MAX;
    KnownValues parameters = unknown_parameters(function, group.is_called || group.is_recursive || is_of_agent);
    if (const auto turn = turns_.find(at); turn != turns_.end()) {
      set_entries(function, parameters, entries_of_turn(program_, *turn->second, input_of(function)));
      return parameters;
    }
    if (group.is_recursive) return parameters;
    for (const auto& [parameter, known] : group.arguments) {
      const auto* const entries = std::get_if<PreviewEntries>(&known);
      if (entries != nullptr && (entries->empty() || is_of_agent)) parameters[parameter] = known;
    }
    return parameters;
  }

  /// The name of the first parameter that is not a context.
  static std::string input_of(const Function& function) {
    for (std::size_t at = 0; at < function.parameters.size(); ++at) {
      if (function.parameters[at] != types::TypeTable::context) return function.parameter_names[at];
    }
    return "…";
  }

  static void set_entries(const Function& function, KnownValues& parameters, const PreviewEntries& entries) {
    for (std::uint16_t at = 0; at < function.parameters.size(); ++at) {
      if (function.parameters[at] == types::TypeTable::context) parameters[at] = entries;
    }
  }

  const Program& program_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> group_of_;            ///< by function
  std::map<std::uint32_t, const Agent*> turns_;    ///< by function that performs the agent's turns
  std::vector<bool> is_reached_;                   ///< by function
  std::vector<std::vector<KnownValues>> ways_;     ///< by function of a library: the arguments with which it was shown
  std::deque<PreviewCall> open_, after_failures_;  ///< calls of such functions
  ProgramPreview found_;
};

}  // namespace

ProgramPreview preview_contexts(const Program& program) {
  return ContextPreview(program).run();
}

}  // namespace tenon::bytecode
