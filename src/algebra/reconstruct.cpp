#include "algebra/reconstruct.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "algebra/interaction.h"

namespace tenon::algebra {
namespace {

using effects::EffectKind;
using effects::OutcomeForm;

/// For messages.
std::string shown(const Artifacts& artifacts, std::size_t call, const Choice& choice) {
  const std::string tool = choice.tool < artifacts.tools.size() ? artifacts.tools[choice.tool].name : "?";
  std::string text = fmt::format("call {} at {}: `{}` of (", call + 1, choice.at, tool);
  const std::vector<std::string>& arguments = artifacts.q[call].arguments;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    text += (at > 0 ? ", " : "") + (arguments[at].empty() ? std::string("?") : arguments[at]);
  }
  return text + ")";
}

OutcomeForm to_outcome(const CallResult& result) {
  OutcomeForm outcome;
  if (const auto* const value = std::get_if<std::string>(&result)) {
    outcome.value = *value;
  } else {
    const Failed& failed = std::get<Failed>(result);
    outcome.failure = effects::FailureText{failed.kind, failed.message, failed.blame, {}};
  }
  return outcome;
}

bool is_answer(const CallResult& result) {
  return std::holds_alternative<std::string>(result) || std::holds_alternative<Failed>(result);
}

/// Feeds a machine from the artifacts.
class Reconstruction {
 public:
  Reconstruction(const std::shared_ptr<const runtime::ProgramImage>& image, const Artifacts& artifacts)
      : image_(image), artifacts_(artifacts), sites_(image->program()), collector_(sites_, *image) {}

  Result<Interaction, AlgebraError> run() {
    if (auto problem = index_calls(); !problem.empty()) return wrong(std::move(problem));
    const Cycle& cycle = artifacts_.h.front();
    effects::Started started;
    started.function = cycle.function;
    auto begun = runtime::read_start(*image_, started, cycle.arguments);
    if (!begun) return wrong(begun.error().message);
    const std::uint32_t function = begun->function;
    vm::MachineOptions budgets;
    if (const auto& bounds = cycle.control.bounds) {
      budgets = {bounds->model_calls, bounds->instructions,     bounds->depth,
                 bounds->tokens,      bounds->cost_millionths, bounds->milliseconds};
    }
    runtime::RunCore core(image_, function, begun->arguments, budgets, runtime::RunCore::Recording::On);
    collector_.begin(core, function, begun->arguments);
    for (;;) {
      while (!core.advance(UINT64_MAX).is_at_rest) {
      }
      collector_.take_requests(core);
      if (core.end()) break;
      auto fed = feed(core);
      if (!fed) return failure(std::move(fed.error()));
      if (!*fed) break;
    }
    Cycle rebuilt = cycle;
    const bytecode::Program& program = image_->program();
    if (!cycle.control.is_stopped) {
      rebuilt.result = result_of(core.end(), program.functions[function].result, program.types);
    }
    const bool has_ended = !std::holds_alternative<Pending>(rebuilt.result);
    collector_.finish(core, has_ended ? Collector::RunState::Ended : Collector::RunState::Waits);
    return compare(make_interaction(collector_, sites_, std::move(rebuilt)));
  }

 private:
  static tl::unexpected<AlgebraError> wrong(std::string message) { return failure(AlgebraError{std::move(message)}); }

  /// Finds each call by its name; empty when the arrays fit together.
  std::string index_calls() {
    if (artifacts_.h.size() != 1 || artifacts_.sigma.size() != 1) {
      return fmt::format("the artifacts have {} cycles; a run of a function has one", artifacts_.h.size());
    }
    const std::vector<Choice>& row = artifacts_.sigma.front();
    if (artifacts_.q.size() != row.size() || artifacts_.r.size() != row.size()) {
      return fmt::format("sigma has {} calls, q has {}, r has {}", row.size(), artifacts_.q.size(),
                         artifacts_.r.size());
    }
    if (artifacts_.tools != sites_.tools()) return describe_tools();
    for (std::size_t at = 0; at < row.size(); ++at) {
      if (row[at].tool >= artifacts_.tools.size()) return fmt::format("call {} goes to no tool", at + 1);
      if (!calls_.emplace(row[at].at, at).second) return fmt::format("two calls stand at {}", row[at].at);
    }
    return {};
  }

  [[nodiscard]] std::string describe_tools() const {
    const auto list = [](const std::vector<Tool>& tools) {
      std::string names;
      for (const Tool& tool : tools) names += (names.empty() ? "" : ", ") + tool.name;
      return names;
    };
    return fmt::format("the program has other tools:\n  the artifacts: {}\n  the program: {}", list(artifacts_.tools),
                       list(sites_.tools()));
  }

  /// Hands in one outcome; false when there is none to hand in.
  Result<bool, AlgebraError> feed(runtime::RunCore& core) {
    struct Candidate {
      const std::string* key = nullptr;
      std::string_view at;
      OutcomeForm outcome;
    };
    const Control& control = artifacts_.h.front().control;
    std::optional<Candidate> best;
    for (const auto& [key, open] : core.open()) {
      const CallRequest& request = *collector_.find(key);
      const Call& made = collector_.calls()[request.call];
      const auto known = calls_.find(made.at);
      if (known == calls_.end()) {
        return wrong(fmt::format("the program makes a call that the artifacts do not have:\n  the artifacts: nothing at "
                                 "{}\n  the program: `{}`, for {}",
                                 made.at, sites_.tools()[made.tool].name, core.place_of(open.request)));
      }
      auto outcome = outcome_for(open, request, known->second);
      if (!outcome) return failure(std::move(outcome.error()));
      if (!*outcome) continue;
      Candidate candidate{&key, made.at, std::move(**outcome)};
      if (delivered_ < control.order.size()) {
        if (made.at == control.order[delivered_]) best = std::move(candidate);
        continue;
      }
      // A failure may end other branches, so the answers that these still got go first.
      const bool is_better =
          !best || std::pair(candidate.outcome.failure.has_value(), precedes(candidate.at, best->at) ? 0 : 1) <
                       std::pair(best->outcome.failure.has_value(), 1);
      if (is_better) best = std::move(candidate);
    }
    if (!best) return false;
    const std::string key = *best->key;
    auto outcome = effects::read_outcome(best->outcome, core.open().at(key).request, image_->program());
    if (!outcome) {
      return wrong(fmt::format("what the artifacts say at {} does not fit the program: {}", best->at,
                               outcome.error().message));
    }
    if (delivered_ < control.usage.size()) {
      const Control::Usage& usage = control.usage[delivered_];
      outcome->usage = {usage.model_calls, usage.tokens, usage.cost_millionths, usage.milliseconds};
    }
    ++delivered_;
    collector_.take_outcome(core, key, best->outcome);
    core.deliver(key, std::move(*outcome));
    return true;
  }

  /// What the artifacts have for an open request; nothing when it never got an answer.
  Result<std::optional<OutcomeForm>, AlgebraError> outcome_for(const runtime::OpenRequest& open,
                                                               const CallRequest& request, std::size_t call) const {
    const CallResult& result = artifacts_.r[call];
    const Choice& choice = artifacts_.sigma.front()[call];
    const bytecode::Program& program = image_->program();
    const bool is_select = request.kind == EffectKind::Select;
    if (!is_select && collector_.calls()[request.call].tool != choice.tool) {
      return wrong(fmt::format("the program calls another tool than the artifacts say:\n  the artifacts: {}\n"
                               "  the program: `{}`",
                               shown(artifacts_, call, choice),
                               sites_.tools()[collector_.calls()[request.call].tool].name));
    }
    const auto answered = [&]() -> std::optional<OutcomeForm> {
      if (!is_answer(result)) return std::nullopt;
      return to_outcome(result);
    };
    const std::vector<std::string>& arguments = artifacts_.q[call].arguments;
    switch (request.kind) {
      case EffectKind::Complete:
      case EffectKind::Extern:
      case EffectKind::Ask:
      case EffectKind::Now:
      case EffectKind::Random:
      case EffectKind::Sleep:
        return answered();
      case EffectKind::Fill: {
        auto filled = fill(program.sites[open.request.subject].call, arguments);
        return filled ? filled : answered();
      }
      case EffectKind::Select:
        break;
    }
    const auto& clauses = sites_.clauses(open.request.subject);
    if (choice.tool == sites_.select_tool()) {
      if (!std::holds_alternative<std::string>(result)) return answered();
      const auto otherwise = std::find(clauses.begin(), clauses.end(), std::nullopt);
      if (otherwise == clauses.end()) return wrong(fmt::format("the select at {} has no `else`", choice.at));
      return OutcomeForm{"[]", static_cast<std::uint32_t>(otherwise - clauses.begin()), std::nullopt};
    }
    for (std::size_t at = 0; at < clauses.size(); ++at) {
      if (!clauses[at] || clauses[at]->tool != choice.tool || clauses[at]->alternative != choice.alternative) continue;
      auto filled = fill(program.sites[open.request.subject].clauses[at].call, arguments);
      if (!filled) return wrong(fmt::format("what the model filled in is not known: {}", shown(artifacts_, call, choice)));
      filled->clause = static_cast<std::uint32_t>(at);
      return filled;
    }
    return wrong(fmt::format("no clause of the select calls the tool: {}", shown(artifacts_, call, choice)));
  }

  /// The model's answer that has led to these arguments; nothing when there was none.
  static std::optional<OutcomeForm> fill(const bytecode::CallShape& shape, const std::vector<std::string>& arguments) {
    OutcomeForm outcome;
    outcome.value = "[";
    for (const std::uint16_t hole : shape.holes) {
      if (hole >= arguments.size() || arguments[hole].empty()) return std::nullopt;
      if (outcome.value.size() > 1) outcome.value += ',';
      outcome.value += arguments[hole];
    }
    outcome.value += ']';
    return outcome;
  }

  /// What was rebuilt must be what was given.
  Result<Interaction, AlgebraError> compare(Interaction rebuilt) const {
    const Artifacts& made = rebuilt.artifacts;
    const std::vector<Choice>& given = artifacts_.sigma.front();
    const std::vector<Choice>& row = made.sigma.front();
    for (std::size_t at = 0; at < std::max(row.size(), given.size()); ++at) {
      const bool is_same = at < row.size() && at < given.size() && row[at] == given[at] && made.q[at] == artifacts_.q[at] &&
                           made.r[at] == artifacts_.r[at];
      if (is_same) continue;
      const auto told = [&](const Artifacts& of, const std::vector<Choice>& calls) {
        return at < calls.size()
                   ? fmt::format("{} -> {{{}}}", shown(of, at, calls[at]), write_result(of.r[at]))
                   : std::string("no such call");
      };
      return wrong(fmt::format("the program does something else than the artifacts say:\n  the artifacts: {}\n"
                               "  the program: {}",
                               told(artifacts_, given), told(made, row)));
    }
    if (made.h != artifacts_.h) {
      return wrong(fmt::format("the run ends otherwise than the artifacts say:\n  the artifacts: {{{}}}\n"
                               "  the program: {{{}}}",
                               write_result(artifacts_.h.front().result), write_result(made.h.front().result)));
    }
    if (made.contexts != artifacts_.contexts) return wrong("the contexts of the artifacts are not those of the program");
    return rebuilt;
  }

  std::shared_ptr<const runtime::ProgramImage> image_;
  const Artifacts& artifacts_;
  CallSites sites_;
  Collector collector_;
  std::unordered_map<std::string, std::size_t> calls_;  ///< by name
  std::size_t delivered_ = 0;
};

}  // namespace

Result<Interaction, AlgebraError> reconstruct(const std::shared_ptr<const runtime::ProgramImage>& image,
                                              const Artifacts& artifacts) {
  return Reconstruction(image, artifacts).run();
}

}  // namespace tenon::algebra
