#include "algebra/trust_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "effects/value_form.h"
#include "flows/flows.h"
#include "runtime/label_sources.h"
#include "vm/execution/trust.h"
#include "vm/values/object.h"
#include "vm/values/render.h"

namespace tenon::algebra {
namespace {

using Kind = TrustStep::Kind;

/// Follows a run while its journal is fed to machines.
class TrustReplay final : public runtime::RecoveryObserver, public vm::Observer {
 public:
  explicit TrustReplay(const journal::RunName& run) { found_.run = run.text; }

  void on_begun(runtime::RecoveredRun& run, const std::string& /*input*/) override {
    run_ = &run;
    first_since_outcome_ = found_.steps.size();
    turn_ = run.conversation ? run.conversation->turns() : 0;
    rows_.clear();
    seen_.clear();
    waiting_.clear();
    scopes_.clear();
    approved_calls_.clear();
    run.core->machine().set_observer(this);
    if (run.conversation || run.started.settings.has_persons_arguments) {
      origins_["person"] = {"person", {}, std::max<std::uint64_t>(run.newest_record, 1)};
    }
    found_.has_sinks = found_.has_sinks || flows::has_sinks(run.image->program());
  }

  void on_quiescent(runtime::RecoveredRun& run) override {
    std::vector<const runtime::OpenRequest*> opened;
    for (const auto& [key, open] : run.core->open()) {
      if (!seen_.insert(key).second) continue;
      opened.push_back(&open);
    }
    std::ranges::sort(opened, {}, [](const runtime::OpenRequest* open) { return open->request.id; });
    std::vector<std::size_t> narrow;
    for (const runtime::OpenRequest* const open : opened) take_request(*open, narrow);
    count_bits(narrow);
    std::erase_if(waiting_, [&](const std::string& key) {
      const bool is_dropped = run.core->find(key) == nullptr;
      if (is_dropped) found_.steps[rows_.at(key)].outcome = TrustStep::Outcome::Dropped;
      return is_dropped;
    });
  }

  void on_requested(runtime::RecoveredRun& run, const effects::Requested& requested) override {
    if (const auto row = rows_.find(requested.key); row != rows_.end()) {
      found_.steps[row->second].requested = run.newest_record;
    }
  }

  void on_outcome(runtime::RecoveredRun& run, const effects::Finished& finished, const std::string& value) override {
    first_since_outcome_ = found_.steps.size();
    const runtime::OpenRequest& open = *run.core->find(finished.key);
    const bytecode::Program& program = run.image->program();
    if (open.request.kind == vm::RequestKind::Extern && !finished.failure) {
      const bytecode::Extern& callee = program.externs[open.request.subject];
      const bool is_person = types::asks_person(callee.builtin_effect);
      const std::string source = is_person ? "person" : "extern " + callee.name;
      origins_[source] = {source, run.core->place_of(open.request), run.newest_record};
    }
    const auto row = rows_.find(finished.key);
    if (row == rows_.end()) return;
    TrustStep& step = found_.steps[row->second];
    waiting_.erase(finished.key);
    step.record = run.newest_record;
    if (finished.failure) {
      step.outcome = TrustStep::Outcome::Failed;
      step.answer = finished.failure->message;
      return;
    }
    step.outcome = TrustStep::Outcome::Done;
    if (step.kind == Kind::Call) return;
    const auto outcome = effects::read_outcome(effects::form_of(finished, value), open.request, program);
    const auto* const returned = outcome ? std::get_if<vm::ReturnedValue>(&outcome->what) : nullptr;
    if (returned == nullptr) return;  // the recovery says why
    if (step.kind == Kind::Narrow) step.answer = plain(returned->value);
    if (step.kind == Kind::Approval) take_answer(finished.key, returned->value, step);
  }

  void on_turn_ended(runtime::RecoveredRun& /*run*/) override {}

  void on_refused(runtime::RecoveredRun& run, const effects::FlowRefused& refused) override {
    for (std::size_t at = first_since_outcome_; at < found_.steps.size(); ++at) {
      TrustStep& step = found_.steps[at];
      const bool is_it = step.kind == Kind::Refused && step.requested == 0 && step.place == refused.place &&
                         step.text == refused.what && step.sources == refused.sources;
      if (is_it) step.requested = step.record = run.newest_record;
    }
  }

  // Of the machine.
  void on_call(std::string_view, std::uint32_t, std::span<const vm::Value>) override {}
  void on_return(std::string_view, std::uint32_t, const vm::Value&) override {}
  void on_unwind(std::string_view, std::uint32_t, const vm::Value&) override {}
  void on_abandon(std::string_view, std::uint32_t) override {}

  void on_refused(std::string_view /*branch*/, const vm::Refusal& refusal, std::span<const vm::Value> values) override {
    TrustStep& step = add(Kind::Refused, refusal.place);
    step.name = refusal.subject;
    step.text = refusal.what;
    step.sources = refusal.sources;
    const bytecode::Program& program = run_->image->program();
    const auto callee = std::ranges::find(program.externs, refusal.subject, &bytecode::Extern::name);
    if (callee != program.externs.end() && bytecode::acts(*callee) && values.size() == callee->parameters.size()) {
      add_trusted_arguments(*callee, values, step);
    } else if (values.size() == 1) {
      step.values.push_back({{}, plain(values[0]), sources_of(values[0])});
    }
    if (repeats_last()) {
      found_.steps.pop_back();
      ++found_.steps.back().times;
    } else {
      explain(refusal.place, refusal.what, refusal.sources, step);
    }
  }

  void on_bits_spent(std::string_view branch, bytecode::Place place, std::uint32_t bits, std::uint64_t spent,
                     std::uint64_t allowed) override {
    TrustStep& step = add(Kind::Spent, place);
    const vm::Fiber& fiber = find_fiber(branch);
    step.name = run_->image->program().functions[fiber.frames.back().function].name;
    step.bits = bits;
    step.spent = spent;
    step.budget = budget_of(vm::scope_of_bits(run_->core->machine().state(), fiber), allowed, spent > 0);
  }

  void on_endorsed(std::string_view /*branch*/, bytecode::Place place, const vm::Value& value,
                   std::string_view why) override {
    TrustStep& step = add(Kind::Endorsed, place);
    step.text = why;
    step.values.push_back({{}, plain(value), sources_of(value)});
  }

  TrustSteps take() { return std::move(found_); }

 private:
  TrustStep& add(Kind kind, const bytecode::Place& place) {
    TrustStep& step = found_.steps.emplace_back();
    step.kind = kind;
    step.turn = turn_;
    step.place = run_->image->loaded()->describe(place);
    step.record = run_->newest_record;
    return step;
  }

  TrustStep& add(Kind kind, const runtime::OpenRequest& open) {
    TrustStep& step = found_.steps.emplace_back();
    step.kind = kind;
    step.turn = turn_;
    step.place = run_->core->place_of(open.request);
    rows_.insert_or_assign(open.request.key, found_.steps.size() - 1);
    waiting_.insert(open.request.key);
    return step;
  }

  [[nodiscard]] const vm::Fiber& find_fiber(std::string_view branch) const {
    const auto& fibers = run_->core->machine().state().fibers;
    return *std::ranges::find_if(fibers, [&](const auto& entry) { return entry.second->key == branch; })->second;
  }

  /// Whether the newest step is that of the same refusal as the one before, as in a loop.
  [[nodiscard]] bool repeats_last() const {
    if (found_.steps.size() < 2) return false;
    const TrustStep& before = found_.steps[found_.steps.size() - 2];
    const TrustStep& newest = found_.steps.back();
    return before.kind == Kind::Refused && before.turn == newest.turn && before.record == newest.record &&
           before.place == newest.place && before.text == newest.text && before.sources == newest.sources &&
           std::ranges::equal(before.values, newest.values, {}, &TrustStep::Value::value, &TrustStep::Value::value);
  }

  /// A value of any type, as plain JSON.
  [[nodiscard]] std::string plain(const vm::Value& value) const {
    std::string text;
    return vm::to_json(value, run_->image->program().types, text) ? text : std::string("null");
  }

  [[nodiscard]] std::vector<std::string> sources_of(const vm::Value& value) const {
    std::vector<std::string> described;
    for (const vm::Source& source : runtime::sources_of(run_->core->machine().labels(), value))
      described.push_back(vm::describe(source));
    return described;
  }

  void add_trusted_arguments(const bytecode::Extern& callee, std::span<const vm::Value> arguments, TrustStep& step) {
    for (const std::uint16_t at : callee.trusted_parameters) {
      step.values.push_back({callee.parameter_names[at], plain(arguments[at]), sources_of(arguments[at])});
    }
  }

  void take_request(const runtime::OpenRequest& open, std::vector<std::size_t>& narrow) {
    const vm::Request& request = open.request;
    const bytecode::Program& program = run_->image->program();
    vm::MachineState& state = run_->core->machine().state();
    if (request.kind == vm::RequestKind::Complete && program.sites[request.subject].narrow_bits) {
      const vm::Fiber& fiber = state.fiber(state.waiting.at(request.id));
      TrustStep& step = add(Kind::Narrow, open);
      step.name = program.functions[request.function].name;
      step.bits = *program.sites[request.subject].narrow_bits;
      step.sources = runtime::describe_sources(state.labels, request.label);
      narrow.push_back(found_.steps.size() - 1);
      narrow_scopes_[narrow.back()] = vm::scope_of_bits(state, fiber);
      return;
    }
    if (request.kind != vm::RequestKind::Extern) return;
    const bytecode::Extern& callee = program.externs[request.subject];
    if (vm::asks_approval(request, program)) return take_approval(open, callee);
    if (!bytecode::acts(callee)) return;
    TrustStep& step = add(Kind::Call, open);
    step.name = callee.name;
    add_trusted_arguments(callee, request.arguments, step);
    for (const std::string_view reason : vm::reasons_for_call(state, request)) step.allowed.emplace_back(reason);
    vm::LabelId label = state.fiber(state.waiting.at(request.id)).control;
    for (const std::uint16_t at : callee.trusted_parameters) {
      label = state.labels.join(label, vm::whole_label(request.arguments[at], state.labels));
    }
    step.sources = runtime::describe_sources(state.labels, label);
    const auto approval = approved_calls_.find(std::string(effects::branch_of(request.key)));
    if (approval != approved_calls_.end() && found_.steps[approval->second].place == step.place) {
      step.is_of_call = true;
      approved_calls_.erase(approval);
    }
  }

  void take_approval(const runtime::OpenRequest& open, const bytecode::Extern& approval) {
    const vm::Request& request = open.request;
    const bytecode::Program& program = run_->image->program();
    vm::MachineState& state = run_->core->machine().state();
    TrustStep& step = add(Kind::Approval, open);
    step.text = request.arguments[1].as_text();
    step.values.push_back({{}, plain(request.arguments[0]), sources_of(request.arguments[0])});
    step.sources = runtime::describe_sources(state.labels, request.label);
    const auto index = static_cast<std::uint32_t>(&approval - program.externs.data());
    const auto called = std::ranges::find(program.externs, index, &bytecode::Extern::approval);
    if (called == program.externs.end()) return;
    step.is_of_call = true;
    step.name = called->name;
    const vm::Fiber& fiber = state.fiber(state.waiting.at(request.id));
    const vm::CallStack stack = run_->core->machine().call_stack(request.id);
    std::vector<std::pair<std::string, vm::LabelId>> tested{
        {"whether `" + called->name + "` is called", fiber.control}};
    for (const std::uint16_t at : called->trusted_parameters) {
      const vm::Value& argument = request.arguments[0].fields()[at];
      tested.emplace_back("`" + called->parameter_names[at] + "` of `" + called->name + "`",
                          vm::whole_label(argument, state.labels));
    }
    for (const auto& [what, label] : tested) {
      const std::vector<std::string> untrusted = vm::untrusted_sources(state, label);
      if (untrusted.empty() || stack.entries.empty()) continue;
      return explain(stack.entries.front().place, what, untrusted, step);
    }
  }

  void take_answer(const std::string& key, const vm::Value& answer, TrustStep& step) {
    if (answer.tag() != vm::Tag::Variant) {
      step.outcome = TrustStep::Outcome::Declined;
      return;
    }
    if (step.is_of_call) {
      approved_calls_[std::string(effects::branch_of(key))] = static_cast<std::size_t>(&step - found_.steps.data());
    }
    const std::string approved = plain(answer.fields()[0]);
    if (approved == step.values[0].value) return;
    step.outcome = TrustStep::Outcome::Changed;
    step.answer = approved;
  }

  /// The budget in which bits are charged; a new one unless it has been charged before, and not been left since.
  std::size_t budget_of(vm::ScopeId scope, std::uint64_t allowed, bool is_charged) {
    const auto known = scopes_.find(scope.index);
    if (known != scopes_.end() && is_charged) return known->second;
    const vm::BudgetScope& entered = run_->core->machine().state().scopes[scope.index];
    const bytecode::Program& program = run_->image->program();
    BitBudget budget;
    budget.turn = turn_;
    budget.allowed = allowed;
    if (entered.budget < program.budgets.size())
      budget.place = run_->image->loaded()->describe(program.budgets[entered.budget].place);
    found_.budgets.push_back(std::move(budget));
    scopes_[scope.index] = found_.budgets.size() - 1;
    return found_.budgets.size() - 1;
  }

  /// The machine has charged all of these already.
  void count_bits(const std::vector<std::size_t>& narrow) {
    const vm::MachineState& state = run_->core->machine().state();
    std::map<std::uint32_t, std::uint64_t> later;
    for (auto at = narrow.rbegin(); at != narrow.rend(); ++at) {
      TrustStep& step = found_.steps[*at];
      const std::uint32_t scope = narrow_scopes_.at(*at).index;
      step.spent = state.scopes[scope].bits - later[scope];
      later[scope] += step.bits;
    }
    for (const std::size_t at : narrow) {
      TrustStep& step = found_.steps[at];
      const vm::ScopeId scope = narrow_scopes_.at(at);
      const std::uint64_t allowed = state.scopes[scope.index].bounds.bits.value_or(bytecode::default_bits);
      step.budget = budget_of(scope, allowed, step.spent > step.bits);
      found_.budgets[step.budget].spent = step.spent;
    }
    narrow_scopes_.clear();
  }

  /// Adds how what is not trusted has come to what is written at the place.
  void explain(const bytecode::Place& place, const std::string& what, const std::vector<std::string>& untrusted,
               TrustStep& step) {
    for (const std::string& source : untrusted) {
      if (const auto known = origins_.find(source); known != origins_.end()) step.from.push_back(known->second);
    }
    const bytecode::Program& program = run_->image->program();
    for (const flows::Sink& sink : sinks()) {
      if (!(flows::place_of(program, sink.function, sink.pc) == place)) continue;
      for (const flows::Finding& finding : sink.findings) {
        if (finding.what != what) continue;
        for (const flows::Step& on_way : finding.way) {
          step.way.push_back({run_->image->loaded()->describe(flows::place_of(program, on_way.function, on_way.pc)),
                              std::string(flows::step_name(on_way.kind)), flows::describe(program, on_way)});
        }
        return;
      }
    }
  }

  /// Of the run's program.
  const std::vector<flows::Sink>& sinks() {
    const auto known = sinks_.find(run_->image);
    if (known != sinks_.end()) return known->second;
    const flows::Assumptions assumptions{.persons_arguments = run_->started.settings.has_persons_arguments};
    return sinks_.emplace(run_->image, flows::find_flows(run_->image->program(), assumptions)).first->second;
  }

  TrustSteps found_;
  runtime::RecoveredRun* run_ = nullptr;
  std::uint64_t turn_ = 0;
  std::size_t first_since_outcome_ = 0;                ///< the steps that follow from the newest outcome begin there
  std::map<std::string, std::size_t> rows_;            ///< by request: its step
  std::set<std::string> seen_;                         ///< requests
  std::set<std::string> waiting_;                      ///< requests of steps that have no outcome
  std::map<std::uint32_t, std::size_t> scopes_;        ///< by scope: the budget that was charged last
  std::map<std::size_t, vm::ScopeId> narrow_scopes_;   ///< by step, of those that are not counted yet
  std::map<std::string, std::size_t> approved_calls_;  ///< by branch: the approval of the call that comes next
  std::map<std::string, TrustStep::Origin> origins_;   ///< by source
  std::map<std::shared_ptr<const runtime::ProgramImage>, std::vector<flows::Sink>> sinks_;
};

}  // namespace

Result<TrustSteps, AlgebraError> find_trust_steps(journal::Store& store, const journal::RunName& run,
                                                  const runtime::ImageSource& images) {
  const auto head = store.head(run);
  if (!head) return failure(AlgebraError{head.error().message});
  TrustReplay replay(run);
  auto recovered = runtime::recover(store, *head, images, runtime::SnapshotUse::Ignore, {}, &replay);
  if (!recovered) return failure(AlgebraError{std::move(recovered.error().message)});
  return replay.take();
}

}  // namespace tenon::algebra
