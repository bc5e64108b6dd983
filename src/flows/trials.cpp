#include "flows/trials.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <span>
#include <tuple>

#include "flows/program_analysis.h"

namespace tenon::flows {
namespace {

using bytecode::Instruction;
using bytecode::Opcode;

/// How many calls that act may be made, at most; nothing: any number.
class ActionCounts {
 public:
  explicit ActionCounts(const ProgramFacts& facts)
      : program_(facts.program()), regions_(facts.regions()), of_functions_(program_.functions.size()) {}

  /// Where a handler's body has not failed.
  [[nodiscard]] std::optional<std::uint32_t> of_trial(std::uint32_t function, std::size_t handler) {
    return sum(function, regions_.tried_actions(function, handler));
  }

 private:
  enum class Progress : std::uint8_t { NotBegun, Begun, Done };
  struct Known {
    Progress progress = Progress::NotBegun;
    std::optional<std::uint32_t> count;
  };
  /// More are not counted.
  static constexpr std::uint32_t count_max = 1'000'000;

  [[nodiscard]] std::optional<std::uint32_t> of_function(std::uint32_t index) {
    Known& known = of_functions_[index];
    if (known.progress != Progress::NotBegun) return known.count;  // nothing while it is counted: it calls itself
    known.progress = Progress::Begun;
    const std::optional<std::uint32_t> count = sum(index, regions_.actions(index));
    of_functions_[index] = {Progress::Done, count};
    return count;
  }

  [[nodiscard]] std::optional<std::uint32_t> sum(std::uint32_t function, const bytecode::Actions& actions) {
    if (actions.are_repeated) return std::nullopt;
    std::uint32_t all = 0;
    for (const std::uint32_t pc : actions.calls) {
      const std::optional<std::uint32_t> one = of_call(program_.functions[function].code[pc]);
      if (!one || *one > count_max - all) return std::nullopt;
      all += *one;
    }
    return all;
  }

  [[nodiscard]] std::optional<std::uint32_t> of_call(Instruction call) {
    switch (static_cast<Opcode>(call.opcode)) {
      case Opcode::Call:
        return of_function(call.wide());
      case Opcode::CallTool:
      case Opcode::CallToolInParts: {
        std::uint32_t most = 0;
        for (const bytecode::Tool& tool : program_.tools) {
          for (const std::uint32_t function : {tool.function, tool.function_in_parts}) {
            if (function == bytecode::no_function) continue;
            const std::optional<std::uint32_t> one = of_function(function);
            if (!one) return std::nullopt;
            most = std::max(most, *one);
          }
        }
        return most;
      }
      case Opcode::CallExtern:
        return bytecode::acts(program_.externs[call.wide()]) ? 1 : 0;  // no extern prompts an agent on its own
      default:
        return 0;
    }
  }

  const bytecode::Program& program_;
  const bytecode::ControlRegions& regions_;
  std::vector<Known> of_functions_;
};

using PlaceKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

PlaceKey key_of(const bytecode::Place& place) {
  return {place.file, place.line, place.column};
}

/// What is known of the trials at one place: in each instance of a generic function there is one.
struct FoundTrial {
  bytecode::Place place;
  std::map<PlaceKey, MayFail> may_fail;
  std::optional<std::uint32_t> charges = 0;
};

void add_doubt(FoundTrial& found, const bytecode::Place& place, std::span<const Source> sources) {
  MayFail& known = found.may_fail.try_emplace(key_of(place), MayFail{place, {}}).first->second;
  std::vector<Source> all;
  std::ranges::set_union(known.sources, sources, std::back_inserter(all));
  known.sources = std::move(all);
}

/// How often the trial is charged, at most: before each call that acts, and when it fails after one.
std::optional<std::uint32_t> charges_of(const ProgramFacts& facts, ActionCounts& counts, const TrialVisit& visit) {
  const std::optional<std::uint32_t> calls = counts.of_trial(visit.function, visit.handler);
  if (!calls) return std::nullopt;
  const std::vector<std::uint32_t> actions = facts.regions().tried_actions(visit.function, visit.handler).calls;
  const bool fails_later = std::ranges::any_of(visit.doubts, [&](const auto& doubt) {
    return doubt.second.is_after_action || (!actions.empty() && actions.front() < doubt.first);
  });
  return std::max(1U, *calls) + (fails_later ? 1U : 0U);
}

}  // namespace

std::vector<Trial> find_trials(const bytecode::Program& program, Assumptions assumptions) {
  const ProgramFacts facts(program);
  if (!facts.regions().has_actions()) return {};
  ProgramAnalysis analysis(facts, assumptions, Followed::Trials);
  analysis.run();
  ActionCounts counts(facts);
  std::map<PlaceKey, FoundTrial> found;
  for (const TrialVisit& visit : analysis.trials()) {
    const bytecode::HandlerFacts handler = facts.regions().handler_facts(visit.function, visit.handler);
    if (!handler.is_watched || handler.tried == bytecode::Tried::NoAction) continue;
    const bytecode::Handler& taken = program.functions[visit.function].handlers[visit.handler];
    const bytecode::Place place = place_of(program, visit.function, taken.begin);
    FoundTrial& trial = found.try_emplace(key_of(place), FoundTrial{place, {}, 0}).first->second;
    for (const auto& [pc, doubt] : visit.doubts) {
      add_doubt(trial, place_of(program, visit.function, pc), analysis.labels().sources_of(doubt.label));
    }
    const std::optional<std::uint32_t> charges = charges_of(facts, counts, visit);
    trial.charges = charges && trial.charges ? std::optional(std::max(*charges, *trial.charges)) : std::nullopt;
  }
  std::vector<Trial> trials;
  for (auto& [key, trial] : found) {
    Trial one{trial.place, {}, std::nullopt};
    if (trial.charges) one.bits = static_cast<std::uint32_t>(std::bit_width(*trial.charges));
    for (auto& [place, may_fail] : trial.may_fail) one.may_fail.push_back(std::move(may_fail));
    trials.push_back(std::move(one));
  }
  return trials;
}

}  // namespace tenon::flows
