#include <bit>

#include "base/ensure.h"
#include "base/utf8.h"
#include "base/wire.h"
#include "effects/record_fields.h"

namespace tenon::effects {
namespace {

using wire::Writer;

void write_text(Writer& out, std::uint32_t number, const StoredText& text) {
  if (text.text.empty() && !text.hash) return;
  Writer message;
  message.field(1, text.text);
  if (text.hash) message.present_field(2, text.hash->view());
  message.field(3, std::uint64_t{text.is_in_pieces});
  out.present_field(number, message);
}

void write_optional(Writer& out, std::uint32_t number, const std::optional<std::uint64_t>& value) {
  if (value) out.present_field(number, *value);
}

void write_time(Writer& out, std::uint32_t number, const std::optional<std::int64_t>& time) {
  if (time) out.present_field(number, static_cast<std::uint64_t>(*time));
}

void write_hash(Writer& out, std::uint32_t number, const Hash& hash) {
  if (!hash.is_zero()) out.present_field(number, hash.view());
}

void write_names(Writer& out, std::uint32_t number, const std::vector<std::string>& names) {
  for (const std::string& name : names) out.present_field(number, name);
}

void write_scope(Writer& out, std::uint32_t number, const AgentScope& scope) {
  out.field(number, scope.agent);
  out.field(number + 1, std::uint64_t{scope.depth});
}

Writer write_failure(const FailureText& failure) {
  Writer out;
  out.field(1, static_cast<std::uint64_t>(failure.kind));
  out.field(2, failure.message);
  out.field(3, failure.blame);
  out.field(4, failure.place);
  return out;
}

Writer write_settings(const RunSettings& settings) {
  Writer out;
  out.field(1, settings.model);
  out.field(2, settings.prompts);
  if (settings.temperature != 0) out.fixed_field(3, std::bit_cast<std::uint32_t>(settings.temperature));
  out.field(4, settings.seed);
  out.field(5, std::uint64_t{settings.answer_tokens_max});
  out.field(6, std::uint64_t{settings.repairs_max});
  out.field(7, settings.generation_timeout_ms);
  bytecode::write_bounds(out, settings_bounds, settings.bounds);
  for (const std::string& library : settings.libraries) out.present_field(14, library);
  out.field(15, settings.judge);
  if (settings.retry != RetrySettings{}) {
    Writer retry;
    write_optional(retry, 1, settings.retry.initial_ms);
    write_optional(retry, 2, settings.retry.factor_thousandths);
    write_optional(retry, 3, settings.retry.interval_max_ms);
    write_optional(retry, 4, settings.retry.elapsed_max_ms);
    out.present_field(16, retry);
  }
  out.field(17, settings.has_persons_arguments ? 1U : 0U);
  return out;
}

Writer write_cost(const Cost& cost) {
  Writer out;
  out.field(1, cost.model_calls);
  out.field(2, cost.tokens);
  out.field(3, cost.cost_millionths);
  out.field(4, cost.milliseconds);
  out.field(5, cost.model);
  out.field(6, cost.computed);
  out.field(7, cost.reused);
  out.field(8, cost.generated);
  out.field(9, cost.forced);
  return out;
}

Writer write_body(const Started& started) {
  Writer out;
  out.present_field(1, started.program.view());
  out.field(2, started.function);
  write_text(out, 3, started.arguments);
  out.present_field(4, write_settings(started.settings));
  out.field(5, started.agent);
  out.field(60, started.secret_key);
  if (started.known) out.present_field(70, started.known->view());
  return out;
}

Writer write_body(const Requested& requested) {
  Writer out;
  out.field(1, requested.key);
  out.field(2, static_cast<std::uint64_t>(requested.kind));
  out.field(3, requested.subject);
  out.present_field(4, requested.request.view());
  write_hash(out, 5, requested.context);
  write_text(out, 6, requested.arguments);
  write_text(out, 7, requested.form);
  out.field(8, requested.place);
  write_time(out, 9, requested.wake_at);
  write_scope(out, requested_scope, requested.scope);
  write_names(out, 50, requested.callers);
  if (requested.used) {
    Writer used;
    used.field(1, requested.used->milliseconds);
    used.field(2, requested.used->tokens);
    out.present_field(80, used);
  }
  out.field(81, requested.call);
  write_names(out, 82, requested.sources);
  write_names(out, 83, requested.allowed);
  return out;
}

Writer write_body(const Attempted& attempted) {
  Writer out;
  out.field(1, attempted.key);
  out.field(2, static_cast<std::uint64_t>(attempted.what));
  out.field(3, std::uint64_t{attempted.attempt});
  write_text(out, 4, attempted.answer);
  out.field(5, attempted.reason);
  write_time(out, 6, attempted.next_at);
  if (attempted.cost != Cost{}) out.present_field(7, write_cost(attempted.cost));
  write_scope(out, attempted_scope, attempted.scope);
  out.field(10, static_cast<std::uint64_t>(attempted.since));
  out.field(11, attempted.service);
  out.field(12, attempted.is_tool ? 1U : 0U);
  return out;
}

Writer write_body(const Finished& finished) {
  Writer out;
  out.field(1, finished.key);
  write_text(out, 2, finished.value);
  out.field(3, std::uint64_t{finished.clause});
  if (finished.failure) out.present_field(4, write_failure(*finished.failure));
  if (finished.cost != Cost{}) out.present_field(5, write_cost(finished.cost));
  out.field(6, static_cast<std::uint64_t>(finished.kind));
  out.field(7, finished.subject);
  write_scope(out, finished_scope, finished.scope);
  if (finished.prompted) {
    Writer prompted;
    prompted.field(1, finished.prompted->agent);
    prompted.field(2, static_cast<std::uint64_t>(finished.prompted->kind));
    out.present_field(50, prompted);
  }
  out.field(70, finished.tool);
  return out;
}

Writer write_body(const CancelWanted& cancel) {
  Writer out;
  out.field(1, cancel.reason);
  out.field(80, cancel.ends_run ? 1U : 0U);
  return out;
}

Writer write_body(const Ended& ended) {
  Writer out;
  out.field(1, static_cast<std::uint64_t>(ended.how));
  write_text(out, 2, ended.value);
  if (ended.failure != FailureText{}) out.present_field(3, write_failure(ended.failure));
  return out;
}

Writer write_body(const Paused& paused) {
  Writer out;
  out.field(1, paused.key);
  out.field(2, paused.question);
  out.field(40, static_cast<std::uint64_t>(paused.why));
  write_text(out, 41, paused.form);
  out.field(42, paused.earlier);
  write_scope(out, paused_scope, paused.scope);
  write_names(out, 52, paused.callers);
  return out;
}

Writer write_body(const Continued& continued) {
  Writer out;
  out.field(1, continued.key);
  write_text(out, 2, continued.input);
  write_time(out, 40, continued.wake_at);
  out.field(41, continued.earlier);
  write_scope(out, continued_scope, continued.scope);
  return out;
}

Writer write_body(const TurnStarted& started) {
  Writer out;
  out.field(1, started.turn);
  out.field(2, started.agent);
  write_text(out, 3, started.input);
  return out;
}

Writer write_body(const TurnEnded& ended) {
  Writer out;
  out.field(1, ended.turn);
  out.field(2, static_cast<std::uint64_t>(ended.how));
  write_text(out, 3, ended.value);
  if (ended.failure != FailureText{}) out.present_field(4, write_failure(ended.failure));
  write_text(out, 5, ended.state);
  write_hash(out, 6, ended.conversation);
  out.field(50, ended.agent);
  for (const std::string& entry : ended.added_entries) out.present_field(51, entry);
  return out;
}

Writer write_body(const Said& said) {
  Writer out;
  out.field(1, said.key);
  write_text(out, 2, said.text);
  write_scope(out, said_scope, said.scope);
  return out;
}

Writer write_body(const StateChanged& changed) {
  Writer out;
  out.field(1, changed.agent);
  write_text(out, 2, changed.entries);
  return out;
}

Writer write_body(const ProgramTaken& taken) {
  Writer out;
  out.present_field(1, taken.program.view());
  out.field(2, taken.agent);
  write_text(out, 3, taken.state);
  for (const std::string& library : taken.libraries) out.present_field(4, library);
  out.field(5, taken.secret_key);
  for (const std::string& entry : taken.added_entries) out.present_field(51, entry);
  return out;
}

Writer write_body(const FlowRefused& refused) {
  Writer out;
  out.field(1, refused.subject);
  out.field(2, refused.what);
  write_names(out, 3, refused.sources);
  out.field(4, refused.place);
  write_scope(out, refused_scope, refused.scope);
  out.present_field(7, refused.times);
  return out;
}
}  // namespace

std::string_view effect_name(EffectKind kind) {
  switch (kind) {
#define TENON_EFFECT_KIND(number, name, text, performer, meaning) \
  case EffectKind::name:                                          \
    return text;
    TENON_EFFECT_KINDS(TENON_EFFECT_KIND)
#undef TENON_EFFECT_KIND
  }
  ENSURE(false);
}

std::string cut_failure_text(std::string text) {
  if (text.size() <= failure_text_bytes_max) return text;
  text.resize(cut_utf8(text, failure_text_bytes_max).size());
  return text + "…";
}

std::string encode(const Record& record) {
  Writer out;
  out.present_field(record_format_field, record_format);
  out.field(record_time, static_cast<std::uint64_t>(record.time));
  out.present_field(body_fields[record.body.index()],
                    std::visit([](const auto& body) { return write_body(body); }, record.body));
  return out.take();
}
}  // namespace tenon::effects
