#include "algebra/reconstruct.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "algebra/form.h"
#include "algebra/interaction.h"
#include "base/counted.h"
#include "bytecode/agents.h"
#include "runtime/conversation.h"
#include "vm/execution/tool_sets.h"

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
  } else if (const auto* const prompt = std::get_if<effects::AgentPrompt>(&result)) {
    outcome.prompt = *prompt;
  } else {
    const Failed& failed = std::get<Failed>(result);
    outcome.failure = effects::FailureText{failed.kind, failed.message, failed.blame, {}};
  }
  return outcome;
}

bool is_answer(const CallResult& result) {
  return std::holds_alternative<std::string>(result) || std::holds_alternative<Failed>(result) ||
         std::holds_alternative<effects::AgentPrompt>(result);
}

/// Feeds a machine from the artifacts.
class Reconstruction {
 public:
  Reconstruction(std::span<const std::shared_ptr<const runtime::ProgramImage>> images, const Artifacts& artifacts)
      : images_(images), image_(images.front()), artifacts_(artifacts) {
    rebuilt_.artifacts.form = artifacts.form;
    const Cycle first = artifacts.h.empty() ? Cycle() : artifacts.h.front();
    for (const auto& image : images) {
      sites_.push_back(std::make_unique<CallSites>(image->program(), artifacts.form, first));
      columns_.push_back(add_tools(tools_, sites_.back()->tools()));
    }
  }

  Result<Interaction, AlgebraError> run() {
    if (auto problem = check_sizes(); !problem.empty()) return wrong(std::move(problem));
    if (artifacts_.tools != tools_) return wrong(describe_tools());
    for (; cycle_ < artifacts_.h.size(); ++cycle_) {
      if (auto done = run_cycle(); !done) return failure(std::move(done.error()));
      first_ += row().size();
    }
    if (rebuilt_.artifacts.contexts != artifacts_.contexts) {
      --cycle_;
      return wrong("the contexts of the artifacts are not those of the program");
    }
    return std::move(rebuilt_);
  }

 private:
  tl::unexpected<AlgebraError> wrong(std::string message) const {
    return failure(AlgebraError{std::move(message), cycle_});
  }
  [[nodiscard]] const Cycle& cycle() const { return artifacts_.h[cycle_]; }
  [[nodiscard]] const std::vector<Choice>& row() const { return artifacts_.sigma[cycle_]; }

  /// Empty when the arrays fit together.
  [[nodiscard]] std::string check_sizes() const {
    const auto& h = artifacts_.h;
    if (h.empty() || (h.size() > 1 && h.front().agent.empty())) {
      return fmt::format("the artifacts have {} cycles; a run of a function has one", h.size());
    }
    for (std::size_t at = 0; at < h.size(); ++at) {
      if (h[at].agent.empty() != h.front().agent.empty()) return "the cycles are not of one conversation";
      if (h[at].program < (at == 0 ? 0 : h[at - 1].program))
        return "the programs of the cycles do not follow one another";
      if (at + 1 < h.size() && std::holds_alternative<Pending>(h[at].result))
        return "a cycle follows one that has not ended";
    }
    if (std::uint64_t{h.back().program} + 1 != images_.size()) {
      return fmt::format("the artifacts need {}, in order; the number of given ones is {}",
                         counted(std::uint64_t{h.back().program} + 1, "program"), images_.size());
    }
    std::size_t calls = 0;
    for (const std::vector<Choice>& row : artifacts_.sigma) calls += row.size();
    if (artifacts_.sigma.size() != h.size() || artifacts_.q.size() != calls || artifacts_.r.size() != calls) {
      return fmt::format("h has {} and sigma {}; sigma has {}, q {} and r {}", counted(h.size(), "cycle"),
                         artifacts_.sigma.size(), counted(calls, "call"), artifacts_.q.size(), artifacts_.r.size());
    }
    return {};
  }

  /// Finds each call of the cycle by its name; empty when each has its own.
  std::string index_calls() {
    calls_.clear();
    for (std::size_t at = 0; at < row().size(); ++at) {
      if (row()[at].tool >= artifacts_.tools.size())
        return fmt::format("call {} refers to an unknown tool", first_ + at + 1);
      if (!calls_.emplace(row()[at].at, first_ + at).second)
        return fmt::format("two calls have the position {}", row()[at].at);
    }
    return {};
  }

  Result<std::unique_ptr<runtime::RunCore>, AlgebraError> make_core() {
    runtime::RunOptions options;
    if (const auto& bounds = cycle().control.bounds) options.budgets = *bounds;
    if (cycle().agent.empty()) {
      effects::Started started;
      started.function = cycle().function;
      auto begun = runtime::read_start(*image_, started, cycle().arguments);
      if (!begun) return wrong(begun.error().message);
      return std::make_unique<runtime::RunCore>(image_, begun->function, std::move(begun->arguments), options.budgets,
                                                runtime::RunCore::Recording::On);
    }
    if (!conversation_) {
      const auto found = bytecode::find_agent(image_->program(), cycle().agent);
      if (!found) return wrong("the program has no agent `" + cycle().agent + "`");
      conversation_.emplace(image_, *found);
    }
    for (; program_ < cycle().program; ++program_) {
      image_ = images_[program_ + 1];
      if (auto taken = conversation_->upgrade_program(image_); !taken) return wrong(taken.error().message);
    }
    // After a handoff another one answers.
    if (conversation_->declaration().name != cycle().agent) {
      return wrong(fmt::format("the turn is not the agent's:\n  the artifacts: {}\n  the program: {}", cycle().agent,
                               conversation_->declaration().name));
    }
    auto core = conversation_->begin(cycle().input, options, runtime::RunCore::Recording::On);
    if (!core) return wrong(core.error().message);
    return std::move(*core);
  }

  Result<void, AlgebraError> run_cycle() {
    if (auto problem = index_calls(); !problem.empty()) return wrong(std::move(problem));
    auto core = make_core();
    if (!core) return failure(std::move(core.error()));
    collector_.emplace(sites(), *image_);
    delivered_ = 0;
    collector_->begin(**core);
    for (;;) {
      while (!(*core)->advance(UINT64_MAX).is_quiescent) {
      }
      collector_->take_requests(**core);
      if ((*core)->end()) break;
      if (const auto notification = collector_->find_notification(**core)) {
        acknowledge(**core, *notification, conversation_ ? &*conversation_ : nullptr);
        continue;
      }
      if (const auto& cancel = cycle().control.cancel;
          cancel && cancel->after == delivered_ && (*core)->cancel({cancel->reason, false})) {
        continue;
      }
      auto fed = feed(**core);
      if (!fed) return failure(std::move(fed.error()));
      if (!*fed) break;
    }
    const auto& end = (*core)->end();
    const bytecode::Program& program = image_->program();
    Cycle rebuilt = cycle();
    if (!rebuilt.control.is_stopped) {
      rebuilt.result = result_of(end, program.functions[collector_->function()].result, program.types);
    }
    const bool has_ended = !std::holds_alternative<Pending>(rebuilt.result);
    collector_->finish(**core, has_ended ? Collector::RunState::Ended : Collector::RunState::Waits);
    std::string state;
    if (conversation_ && has_ended) {
      const bytecode::Agent& went_on = conversation_->declaration();
      end_turn(*conversation_, **core, end && !rebuilt.control.is_stopped ? &*end : nullptr);
      if (rebuilt.control.keeps_state) {
        std::string kept;
        const vm::Value& changed = (*core)->machine().agent_state();
        if (effects::write_value(changed, went_on.state, program.types, kept)) {
          conversation_->hand_off(went_on.name);
          conversation_->restore_state(std::move(kept));
        }
      }
      state = effects::name_secrets(conversation_->state());
    }
    append_cycle(rebuilt_, *collector_, sites(), std::move(rebuilt), state);
    // Artifacts of programs that were recorded without some prompt templates have no requests.
    std::vector<Query>& queries = rebuilt_.artifacts.q;
    for (std::size_t at = first_; at < std::min(queries.size(), artifacts_.q.size()); ++at) {
      if (artifacts_.q[at].requests.empty()) queries[at].requests.clear();
    }
    return compare();
  }

  [[nodiscard]] std::string describe_tools() const {
    const auto list = [](const std::vector<Tool>& tools) {
      std::string names;
      for (const Tool& tool : tools) names += (names.empty() ? "" : ", ") + tool.name;
      return names;
    };
    return fmt::format("the program has other tools:\n  the artifacts: {}\n  the program: {}", list(artifacts_.tools),
                       list(tools_));
  }

  /// Hands in one outcome, while no notification is open; false when there is none to hand in.
  Result<bool, AlgebraError> feed(runtime::RunCore& core) {
    struct Candidate {
      const std::string* key = nullptr;
      std::string_view at;
      OutcomeForm outcome;
    };
    const Control& control = cycle().control;
    std::optional<Candidate> best;
    for (const auto& [key, open] : core.open()) {
      const CallRequest& request = *collector_->find(key);
      const Call& made = collector_->calls()[request.call];
      const auto known = calls_.find(made.at);
      if (known == calls_.end()) {
        return wrong(
            fmt::format("the program makes a call that the artifacts do not have:\n  the artifacts: nothing at "
                        "{}\n  the program: `{}`, for {}",
                        made.at, sites().tools()[made.tool].name, core.place_of(open.request)));
      }
      if (open.described.kind == EffectKind::Extern) {
        collector_->set_pauses(request.call, artifacts_.q[known->second].pauses);
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
      return wrong(
          fmt::format("what the artifacts say at {} does not fit the program: {}", best->at, outcome.error().message));
    }
    if (delivered_ < control.usage.size()) outcome->usage = control.usage[delivered_];
    ++delivered_;
    collector_->take_outcome(core, key, best->outcome);
    if (conversation_) conversation_->follow_outcome(core.open().at(key), *outcome, core.machine().labels());
    core.deliver(key, std::move(*outcome));
    return true;
  }

  /// What the artifacts have for an open request; nothing when it never got an answer.
  Result<std::optional<OutcomeForm>, AlgebraError> outcome_for(const runtime::OpenRequest& open,
                                                               const CallRequest& request, std::size_t call) const {
    const CallResult& result = artifacts_.r[call];
    const Choice& choice = row()[call - first_];
    const bytecode::Program& program = image_->program();
    const bool is_select = request.kind == EffectKind::Select;
    if (!is_select && columns()[collector_->calls()[request.call].tool] != choice.tool) {
      return wrong(
          fmt::format("the program calls a different tool than in the artifacts:\n  the artifacts: {}\n"
                      "  the program: `{}`\n"
                      "check that this is the run's program, with the `.plan` file that it had",
                      shown(artifacts_, call, choice), sites().tools()[collector_->calls()[request.call].tool].name));
    }
    const auto answered = [&]() -> std::optional<OutcomeForm> {
      if (!is_answer(result)) return std::nullopt;
      return to_outcome(result);
    };
    const std::vector<std::string>& arguments = artifacts_.q[call].arguments;
    if (request.kind == EffectKind::Fill) {
      auto filled = fill(program.sites[open.request.subject].call, arguments);
      return filled ? filled : answered();
    }
    if (!is_select) return answered();
    const std::vector<std::optional<ModelCall>> clauses = sites().options(open.request);
    if (artifacts_.tools[choice.tool].kind == ToolKind::Select) {
      if (!std::holds_alternative<std::string>(result)) return answered();
      const auto otherwise = std::find(clauses.begin(), clauses.end(), std::nullopt);
      if (otherwise == clauses.end()) return wrong(fmt::format("the select at {} has no `else`", choice.at));
      return OutcomeForm{"[]", static_cast<std::uint32_t>(otherwise - clauses.begin()), std::nullopt};
    }
    for (std::size_t at = 0; at < clauses.size(); ++at) {
      const bool is_chosen =
          clauses[at] && columns()[clauses[at]->tool] == choice.tool && clauses[at]->alternative == choice.alternative;
      if (!is_chosen) continue;
      auto filled = fill(*vm::options_of(open.request, program)[at].call, arguments);
      if (!filled)
        return wrong(fmt::format("what the model filled in is not known: {}", shown(artifacts_, call, choice)));
      filled->clause = static_cast<std::uint32_t>(at);
      return filled;
    }
    return wrong(
        fmt::format("no clause of the select at {} calls the tool: {}; the program or its `.plan` file differs from "
                    "the run's",
                    choice.at, shown(artifacts_, call, choice)));
  }

  /// The model's answer that led to these arguments; nothing if there was none.
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

  /// What a model was asked before and in a call, where nothing else differs: the identity of the prompt or schema.
  static std::string describe_request(const Query& query) {
    const std::vector<Hash>& asked = query.requests.empty() ? query.contexts : query.requests;
    std::string text;
    for (const Hash& hash : asked) text += (text.empty() ? "; asked with " : ", ") + hash.hex();
    return text.empty() ? "; the model was not asked" : text;
  }

  /// What was rebuilt of the cycle must be what was given.
  [[nodiscard]] Result<void, AlgebraError> compare() const {
    const Artifacts& made = rebuilt_.artifacts;
    const std::vector<Choice>& given = row();
    const std::vector<Choice>& choices = made.sigma.back();
    for (std::size_t at = 0; at < std::max(choices.size(), given.size()); ++at) {
      const std::size_t call = first_ + at;
      const bool is_same = at < choices.size() && at < given.size() && choices[at] == given[at] &&
                           made.q[call] == artifacts_.q[call] && made.r[call] == artifacts_.r[call];
      if (is_same) continue;
      const auto described = [&](const Artifacts& of, const std::vector<Choice>& calls) {
        if (at >= calls.size()) return std::string("no such call");
        return fmt::format("{} -> {}", shown(of, call, calls[at]), write_call_result(of.r[call]));
      };
      std::string said = described(artifacts_, given);
      std::string done = described(made, choices);
      if (said == done) {
        said += describe_request(artifacts_.q[call]);
        done += describe_request(made.q[call]);
      }
      return wrong(
          fmt::format("the program does something different from the artifacts:\n  the artifacts: {}\n"
                      "  the program: {}",
                      said, done));
    }
    if (made.h.back() != cycle()) {
      return wrong(
          fmt::format("the run ends differently than in the artifacts:\n  the artifacts: {}\n"
                      "  the program: {}",
                      write_output(cycle()), write_output(made.h.back())));
    }
    return {};
  }

  /// The call sites of the cycle's program.
  [[nodiscard]] const CallSites& sites() const { return *sites_[cycle().program]; }
  [[nodiscard]] const std::vector<std::uint32_t>& columns() const { return columns_[cycle().program]; }

  std::span<const std::shared_ptr<const runtime::ProgramImage>> images_;
  std::uint32_t program_ = 0;
  std::shared_ptr<const runtime::ProgramImage> image_;  ///< of the cycle: that of `program_`
  const Artifacts& artifacts_;
  std::vector<std::unique_ptr<CallSites>> sites_;    ///< by program
  std::vector<Tool> tools_;                          ///< of all programs
  std::vector<std::vector<std::uint32_t>> columns_;  ///< by program: which of `tools_` its tools are
  Interaction rebuilt_;
  std::optional<runtime::Conversation> conversation_;
  // State of the cycle that is being rebuilt.
  std::size_t cycle_ = 0;
  std::size_t first_ = 0;  ///< its first call
  std::optional<Collector> collector_;
  std::unordered_map<std::string, std::size_t> calls_;  ///< by name
  std::size_t delivered_ = 0;
};

}  // namespace

Result<Interaction, AlgebraError> reconstruct(std::span<const std::shared_ptr<const runtime::ProgramImage>> images,
                                              const Artifacts& artifacts) {
  return Reconstruction(images, artifacts).run();
}

Result<Interaction, AlgebraError> reconstruct(const std::shared_ptr<const runtime::ProgramImage>& image,
                                              const Artifacts& artifacts) {
  return reconstruct(std::span(&image, 1), artifacts);
}

}  // namespace tenon::algebra
