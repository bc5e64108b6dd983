#include "runtime/effects/requests.h"

#include "runtime/prompts.h"
#include "runtime/waits/waits.h"

namespace tenon::runtime {

using effects::EffectKind;

void Requests::open(RunId id, const std::vector<std::string>& keys) {
  Run& run = runs_[id];
  const bytecode::Program& program = run.core->image()->program();
  for (const std::string& key : keys) {
    OpenRequest& open = *run.core->find(key);
    const vm::Request& request = open.request;
    const EffectKind kind = open.described.kind;
    const Moment now = recorder_.moment(run);
    if (kind == EffectKind::Sleep) open.begin_wait(time_after(now.wall_ms, request.arguments[0].as_integer()), now);
    if (kind == EffectKind::Ask && program.externs[request.subject].builtin_effect == types::BuiltinEffect::AskWithin) {
      open.begin_wait(time_after(now.wall_ms, request.arguments[1].as_integer()), now);
    }
    if (kind == EffectKind::Extern) open.begin_wait(call_deadline(open, program, now.wall_ms), now);
    recorder_.add_request(run, open);
    if (run.conversation) run.conversation->follow_request(open);
    if (run.known) {
      const effects::Finished* const known = run.known->take(open.described.identity, key);
      if (known != nullptr && deliver_known(id, open, *known)) continue;
    }
    if (!give_instant(id, open)) run.to_perform.push_back(key);
  }
}

bool Requests::give_instant(RunId id, const OpenRequest& open) {
  const EffectKind kind = open.described.kind;
  const bool is_given = effects::is_instant(kind);
  if (is_given) outcomes_.enqueue(id, open.request.key, instant_outcome(runs_[id], kind));
  return is_given;
}

bool Requests::deliver_known(RunId id, const OpenRequest& open, const effects::Finished& known) {
  const Run& run = runs_[id];
  if (known.value.hash) return false;  // the value is lost
  auto outcome = effects::read_outcome(effects::form_of(known, known.value.text), open.request, run.image->program());
  if (!outcome) return false;
  outcome->usage = effects::usage_of(known.cost);
  // A model that follows a script continues after the answer.
  for (std::uint64_t at = 0; effects::is_generation(known.kind) && at < known.cost.model_calls; ++at) {
    model_.skip(prompt_of(*run.core->image(), run.options, open.request));
  }
  outcomes_.enqueue(id, open.request.key, std::move(*outcome), known.cost);
  return true;
}

vm::Outcome Requests::instant_outcome(Run& run, EffectKind kind) const {
  if (kind == EffectKind::Now) return {vm::ReturnedValue{vm::Value::integer(recorder_.now_ms(run))}, {}};
  if (kind != EffectKind::Random) return {vm::ReturnedValue{vm::Value::unit()}, {}};
  if (random_unit_) return {vm::ReturnedValue{vm::Value::floating(random_unit_())}, {}};
  return {vm::EffectFailure{types::FailureKind::ToolFailed, "there is no source of random numbers", "random"}, {}};
}

}  // namespace tenon::runtime
