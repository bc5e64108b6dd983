#include "runtime/events.h"

#include "base/ensure.h"
#include "effects/value_form.h"

namespace tenon::runtime {

using effects::EffectKind;

std::string_view RecordBatch::text_of(const effects::StoredText& text) const {
  if (!text.hash) return text.text;
  const auto found = texts.find(*text.hash);
  return found == texts.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<ProgramEvent> find_program_event(const RecordBatch& batch, const effects::Record& record) {
  const auto* const reported = std::get_if<effects::Requested>(&record.body);
  if (reported == nullptr || !effects::is_program_event(reported->kind)) return std::nullopt;
  ProgramEvent event;
  event.kind = reported->kind;
  event.key = reported->key;
  event.scope = reported->scope;
  event.text = reported->subject;
  const bool is_refusal = reported->kind == EffectKind::AnswerRefused;
  if (reported->kind != EffectKind::Emitted && !is_refusal) return event;
  // The texts of a refusal are the function, the reasons and, if the program knows it, the generation.
  const std::size_t count = !is_refusal ? 1 : reported->call.empty() ? 2 : 3;
  const std::vector<types::TypeId> texts(count, types::TypeTable::string);
  const auto values = effects::read_values(batch.text_of(reported->arguments), texts, batch.program.types());
  ENSURE(values.has_value());
  event.text = values->at(is_refusal ? 1 : 0).as_text();
  if (is_refusal) {
    event.function = reported->subject;
    event.generation = reported->call;
  }
  return event;
}

PerformedEffect::PerformedEffect(RunId id, const RunCore& core, const vm::Request& request)
    : run(id),
      key(request.key),
      program(*core.image()->loaded()),
      scope(effects::scope_of(request, core.image()->program())),
      machine_(core.machine()),
      request_(request) {}

bytecode::Place PerformedEffect::place() const {
  if (request_.kind != vm::RequestKind::Extern) return program.program().sites[request_.subject].place;
  const vm::CallStack stack = calls();
  return stack.entries.empty() ? bytecode::Place{} : stack.entries.front().place;
}

vm::CallStack PerformedEffect::calls() const {
  return machine_.call_stack(request_.id);
}

std::string PerformedEffect::label() const {
  return machine_.labels().describe(request_.label);
}

}  // namespace tenon::runtime
