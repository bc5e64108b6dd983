#include "runtime/recording/request_record.h"

#include <utility>

#include "effects/effect.h"
#include "inference/answers/schema_writer.h"
#include "runtime/label_sources.h"
#include "runtime/recording/agent_records.h"
#include "vm/execution/trust.h"

namespace tenon::runtime {

using effects::EffectKind;

effects::Requested record_request(RunCore& core, RunJournal& journal, const OpenRequest& open, const std::string& title,
                                  std::int64_t time) {
  const bytecode::Program& program = core.image()->program();
  const vm::Request& request = open.request;
  effects::Requested requested;
  requested.key = request.key;
  requested.kind = open.described.kind;
  requested.subject = open.described.subject;
  requested.request = open.described.identity;
  requested.context = open.described.context;
  requested.arguments = journal.keep(open.described.arguments);
  if (effects::is_generation(requested.kind)) journal.keep_context(request.context);
  if (requested.kind == EffectKind::Ask) {
    const types::TypeId answer = program.externs[request.subject].result;
    requested.form = journal.keep(inference::answers::make_question_schema(program.types, answer));
    requested.callers = callers_of(core.machine(), request, title);
  }
  requested.sources = sources_of_call(program, core.machine().labels(), request);
  for (const std::string_view reason : vm::reasons_for_call(core.machine().state(), request))
    requested.allowed.emplace_back(reason);
  requested.place = core.place_of(request);
  requested.wake_at = open.wake_at;
  requested.scope = effects::AgentScope(effects::scope_of(request, program));
  if (auto left = core.follow_blocks(requested, time)) std::move(*left).add_to(requested);
  if (requested.kind == EffectKind::AnswerRefused) requested.call = refused_answer(request);
  return requested;
}

}  // namespace tenon::runtime
