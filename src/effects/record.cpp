#include "effects/record.h"

#include <array>
#include <bit>

#include "base/ensure.h"
#include "base/wire.h"

namespace tenon::effects {
namespace {

using wire::Reader;
using wire::Writer;

/// The fields of a record.
enum : std::uint32_t { record_format_field = 1, record_time = 2 };
/// The field of each kind of body, in the order of the variant.
constexpr std::array<std::uint32_t, 13> body_fields = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 50, 51, 60};
static_assert(std::variant_size_v<RecordBody> == body_fields.size());

void write_text(Writer& out, std::uint32_t number, const StoredText& text) {
  if (text.text.empty() && !text.hash) return;
  Writer message;
  message.field(1, text.text);
  if (text.hash) message.present_field(2, text.hash->view());
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
  write_optional(out, 8, settings.model_calls_max);
  write_optional(out, 9, settings.instructions_max);
  write_optional(out, 10, settings.depth_max);
  write_optional(out, 11, settings.tokens_max);
  write_optional(out, 12, settings.cost_millionths_max);
  write_optional(out, 13, settings.milliseconds_max);
  for (const std::string& library : settings.libraries) out.present_field(14, library);
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
  out.field(10, requested.agent);
  out.field(11, std::uint64_t{requested.depth});
  write_names(out, 50, requested.callers);
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
  out.field(8, attempted.agent);
  out.field(9, std::uint64_t{attempted.depth});
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
  out.field(8, finished.agent);
  out.field(9, std::uint64_t{finished.depth});
  if (finished.prompted) {
    Writer prompted;
    prompted.field(1, finished.prompted->agent);
    prompted.field(2, static_cast<std::uint64_t>(finished.prompted->then));
    out.present_field(50, prompted);
  }
  return out;
}

Writer write_body(const CancelWanted& cancel) {
  Writer out;
  out.field(1, cancel.reason);
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
  out.field(50, paused.agent);
  out.field(51, std::uint64_t{paused.depth});
  write_names(out, 52, paused.callers);
  return out;
}

Writer write_body(const Continued& continued) {
  Writer out;
  out.field(1, continued.key);
  write_text(out, 2, continued.input);
  write_time(out, 40, continued.wake_at);
  out.field(50, continued.agent);
  out.field(51, std::uint64_t{continued.depth});
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
  return out;
}

Writer write_body(const Said& said) {
  Writer out;
  out.field(1, said.key);
  write_text(out, 2, said.text);
  out.field(3, said.agent);
  out.field(4, std::uint64_t{said.depth});
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
  return out;
}

/// Reads the fields of a message one by one; `read` gives false for a number that it does not know.
template <class Read>
void read_message(std::string_view bytes, Reader& outer, const Read& read) {
  Reader in(bytes);
  while (in.next_field()) {
    if (!read(in)) in.reject();
  }
  if (!in.is_good()) outer.reject();
}

Hash read_hash(Reader& in) {
  const auto hash = Hash::from_bytes(in.bytes_value());
  if (!hash) in.reject();
  return hash.value_or(Hash{});
}

std::string read_string(Reader& in) {
  return std::string(in.bytes_value());
}

StoredText read_text(Reader& outer) {
  StoredText text;
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        text.text = read_string(in);
        return true;
      case 2:
        text.hash = read_hash(in);
        return true;
      default:
        return false;
    }
  });
  return text;
}

FailureText read_failure(Reader& outer) {
  FailureText failure;
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        failure.kind =
            static_cast<types::FailureKind>(in.value_up_to(static_cast<std::uint64_t>(types::FailureKind::TimedOut)));
        return true;
      case 2:
        failure.message = read_string(in);
        return true;
      case 3:
        failure.blame = read_string(in);
        return true;
      case 4:
        failure.place = read_string(in);
        return true;
      default:
        return false;
    }
  });
  return failure;
}

RunSettings read_settings(Reader& outer) {
  RunSettings settings;
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        settings.model = read_string(in);
        return true;
      case 2:
        settings.prompts = read_string(in);
        return true;
      case 3: {
        const std::uint64_t bits = in.fixed_value();
        if (bits > UINT32_MAX) in.reject();
        settings.temperature = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        return true;
      }
      case 4:
        settings.seed = in.value();
        return true;
      case 5:
        settings.answer_tokens_max = in.value32();
        return true;
      case 6:
        settings.repairs_max = in.value32();
        return true;
      case 7:
        settings.generation_timeout_ms = in.value();
        return true;
      case 8:
        settings.model_calls_max = in.value();
        return true;
      case 9:
        settings.instructions_max = in.value();
        return true;
      case 10:
        settings.depth_max = in.value();
        return true;
      case 11:
        settings.tokens_max = in.value();
        return true;
      case 12:
        settings.cost_millionths_max = in.value();
        return true;
      case 13:
        settings.milliseconds_max = in.value();
        return true;
      case 14:
        settings.libraries.push_back(read_string(in));
        return true;
      default:
        return false;
    }
  });
  return settings;
}

Cost read_cost(Reader& outer) {
  Cost cost;
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        cost.model_calls = in.value();
        return true;
      case 2:
        cost.tokens = in.value();
        return true;
      case 3:
        cost.cost_millionths = in.value();
        return true;
      case 4:
        cost.milliseconds = in.value();
        return true;
      case 5:
        cost.model = read_string(in);
        return true;
      case 6:
        cost.computed = in.value();
        return true;
      case 7:
        cost.reused = in.value();
        return true;
      case 8:
        cost.generated = in.value();
        return true;
      default:
        return false;
    }
  });
  return cost;
}

void read_body(Reader& outer, Started& started) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        started.program = read_hash(in);
        return true;
      case 2:
        started.function = read_string(in);
        return true;
      case 3:
        started.arguments = read_text(in);
        return true;
      case 4:
        started.settings = read_settings(in);
        return true;
      case 5:
        started.agent = read_string(in);
        return true;
      case 60:
        started.secret_key = read_string(in);
        return true;
      case 70:
        started.known = read_hash(in);
        return true;
      default:
        return false;
    }
  });
}

void read_body(Reader& outer, Requested& requested) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        requested.key = read_string(in);
        return true;
      case 2:
        requested.kind = static_cast<EffectKind>(in.value_up_to(effect_kind_count - 1));
        return true;
      case 3:
        requested.subject = read_string(in);
        return true;
      case 4:
        requested.request = read_hash(in);
        return true;
      case 5:
        requested.context = read_hash(in);
        return true;
      case 6:
        requested.arguments = read_text(in);
        return true;
      case 7:
        requested.form = read_text(in);
        return true;
      case 8:
        requested.place = read_string(in);
        return true;
      case 9:
        requested.wake_at = static_cast<std::int64_t>(in.value());
        return true;
      case 10:
        requested.agent = read_string(in);
        return true;
      case 11:
        requested.depth = in.value32();
        return true;
      case 50:
        requested.callers.push_back(read_string(in));
        return true;
      default:
        return false;
    }
  });
}

void read_body(Reader& outer, Attempted& attempted) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        attempted.key = read_string(in);
        return true;
      case 2:
        attempted.what = static_cast<Attempted::What>(in.value_up_to(1));
        return true;
      case 3:
        attempted.attempt = in.value32();
        return true;
      case 4:
        attempted.answer = read_text(in);
        return true;
      case 5:
        attempted.reason = read_string(in);
        return true;
      case 6:
        attempted.next_at = static_cast<std::int64_t>(in.value());
        return true;
      case 7:
        attempted.cost = read_cost(in);
        return true;
      case 8:
        attempted.agent = read_string(in);
        return true;
      case 9:
        attempted.depth = in.value32();
        return true;
      default:
        return false;
    }
  });
}

PromptedAgent read_prompted(Reader& outer) {
  PromptedAgent prompted;
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        prompted.agent = read_string(in);
        return true;
      case 2:
        prompted.then = static_cast<PromptedAgent::Then>(in.value_up_to(1));
        return true;
      default:
        return false;
    }
  });
  return prompted;
}

void read_body(Reader& outer, Finished& finished) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        finished.key = read_string(in);
        return true;
      case 2:
        finished.value = read_text(in);
        return true;
      case 3:
        finished.clause = in.value32();
        return true;
      case 4:
        finished.failure = read_failure(in);
        return true;
      case 5:
        finished.cost = read_cost(in);
        return true;
      case 6:
        finished.kind = static_cast<EffectKind>(in.value_up_to(effect_kind_count - 1));
        return true;
      case 7:
        finished.subject = read_string(in);
        return true;
      case 8:
        finished.agent = read_string(in);
        return true;
      case 9:
        finished.depth = in.value32();
        return true;
      case 50:
        finished.prompted = read_prompted(in);
        return true;
      default:
        return false;
    }
  });
}

void read_body(Reader& outer, CancelWanted& cancel) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    if (in.number() != 1) return false;
    cancel.reason = read_string(in);
    return true;
  });
}

void read_body(Reader& outer, Ended& ended) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        ended.how = static_cast<Ended::How>(in.value_up_to(2));
        return true;
      case 2:
        ended.value = read_text(in);
        return true;
      case 3:
        ended.failure = read_failure(in);
        return true;
      default:
        return false;
    }
  });
}

void read_body(Reader& outer, Paused& paused) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        paused.key = read_string(in);
        return true;
      case 2:
        paused.question = read_string(in);
        return true;
      case 50:
        paused.agent = read_string(in);
        return true;
      case 51:
        paused.depth = in.value32();
        return true;
      case 52:
        paused.callers.push_back(read_string(in));
        return true;
      case 40:
        paused.why = static_cast<Paused::Why>(in.value_up_to(1));
        return true;
      case 41:
        paused.form = read_text(in);
        return true;
      default:
        return false;
    }
  });
}

void read_body(Reader& outer, Continued& continued) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        continued.key = read_string(in);
        return true;
      case 2:
        continued.input = read_text(in);
        return true;
      case 50:
        continued.agent = read_string(in);
        return true;
      case 51:
        continued.depth = in.value32();
        return true;
      case 40:
        continued.wake_at = static_cast<std::int64_t>(in.value());
        return true;
      default:
        return false;
    }
  });
}

void read_body(Reader& outer, TurnStarted& started) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        started.turn = in.value();
        return true;
      case 2:
        started.agent = read_string(in);
        return true;
      case 3:
        started.input = read_text(in);
        return true;
      default:
        return false;
    }
  });
}

void read_body(Reader& outer, TurnEnded& ended) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        ended.turn = in.value();
        return true;
      case 2:
        ended.how = static_cast<Ended::How>(in.value_up_to(2));
        return true;
      case 3:
        ended.value = read_text(in);
        return true;
      case 4:
        ended.failure = read_failure(in);
        return true;
      case 5:
        ended.state = read_text(in);
        return true;
      case 6:
        ended.conversation = read_hash(in);
        return true;
      case 50:
        ended.agent = read_string(in);
        return true;
      default:
        return false;
    }
  });
}

void read_body(Reader& outer, Said& said) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        said.key = read_string(in);
        return true;
      case 2:
        said.text = read_text(in);
        return true;
      case 3:
        said.agent = read_string(in);
        return true;
      case 4:
        said.depth = in.value32();
        return true;
      default:
        return false;
    }
  });
}

void read_body(Reader& outer, StateChanged& changed) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        changed.agent = read_string(in);
        return true;
      case 2:
        changed.entries = read_text(in);
        return true;
      default:
        return false;
    }
  });
}

void read_body(Reader& outer, ProgramTaken& taken) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        taken.program = read_hash(in);
        return true;
      case 2:
        taken.agent = read_string(in);
        return true;
      case 3:
        taken.state = read_text(in);
        return true;
      case 4:
        taken.libraries.push_back(read_string(in));
        return true;
      case 5:
        taken.secret_key = read_string(in);
        return true;
      default:
        return false;
    }
  });
}

template <std::size_t Kind>
bool read_kind(Reader& in, RecordBody& body) {
  if (in.number() != body_fields[Kind]) return false;
  read_body(in, body.emplace<Kind>());
  return true;
}

template <std::size_t... Kinds>
bool read_any(Reader& in, RecordBody& body, std::index_sequence<Kinds...>) {
  return (read_kind<Kinds>(in, body) || ...);
}

}  // namespace

std::string_view effect_name(EffectKind kind) {
  switch (kind) {
    case EffectKind::Complete:
      return "complete";
    case EffectKind::Fill:
      return "fill";
    case EffectKind::Select:
      return "select";
    case EffectKind::Extern:
      return "extern";
    case EffectKind::Ask:
      return "ask";
    case EffectKind::Now:
      return "now";
    case EffectKind::Random:
      return "random";
    case EffectKind::Sleep:
      return "sleep";
    case EffectKind::AgentCalled:
      return "agent_called";
    case EffectKind::AgentReturned:
      return "agent_returned";
    case EffectKind::HandedOff:
      return "handed_off";
  }
  ENSURE(false);
}

std::string encode(const Record& record) {
  Writer out;
  out.present_field(record_format_field, record_format);
  out.field(record_time, static_cast<std::uint64_t>(record.time));
  out.present_field(body_fields[record.body.index()],
                    std::visit([](const auto& body) { return write_body(body); }, record.body));
  return out.take();
}

Result<Record, RecordError> decode_record(std::string_view bytes) {
  Reader in(bytes);
  Record record;
  bool has_body = false;
  while (in.next_field()) {
    switch (in.number()) {
      case record_format_field:
        if (const std::uint64_t format = in.value(); format > record_format) {
          return failure(
              RecordError{"the record was written by a newer Tenon (format " + std::to_string(format) + ")"});
        }
        break;
      case record_time:
        record.time = static_cast<std::int64_t>(in.value());
        break;
      default:
        if (has_body || !read_any(in, record.body, std::make_index_sequence<body_fields.size()>())) {
          in.reject();
        }
        has_body = true;
    }
  }
  if (!in.is_good() || !has_body) return failure(RecordError{"the bytes are no record"});
  return record;
}

}  // namespace tenon::effects
