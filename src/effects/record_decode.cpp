#include <bit>

#include "base/wire.h"
#include "effects/record_fields.h"

namespace tenon::effects {
namespace {

using wire::Reader;

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
      case 3:
        text.is_in_pieces = in.value_up_to(1) != 0;
        return true;
      default:
        return false;
    }
  });
  return text;
}

/// Whether the field is one of a scope, which it then reads. `number`: as in record_fields.h.
bool read_scope(Reader& in, std::uint32_t number, AgentScope& scope) {
  if (in.number() == number) {
    scope.agent = read_string(in);
  } else if (in.number() == number + 1) {
    scope.depth = in.value32();
  } else {
    return false;
  }
  return true;
}

FailureText read_failure(Reader& outer) {
  FailureText failure;
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        failure.kind =
            static_cast<types::FailureKind>(in.value_up_to(static_cast<std::uint64_t>(types::last_failure_kind)));
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

RetrySettings read_retry(Reader& outer) {
  RetrySettings retry;
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        retry.initial_ms = in.value();
        return true;
      case 2:
        retry.factor_thousandths = in.value();
        return true;
      case 3:
        retry.interval_max_ms = in.value();
        return true;
      case 4:
        retry.elapsed_max_ms = in.value();
        return true;
      default:
        return false;
    }
  });
  return retry;
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
      case 15:
        settings.judge = read_string(in);
        return true;
      case 14:
        settings.libraries.push_back(read_string(in));
        return true;
      case 16:
        settings.retry = read_retry(in);
        return true;
      case 17:
        settings.has_persons_arguments = in.value_up_to(1) == 1;
        return true;
      default:
        return bytecode::read_bound(in, settings_bounds, settings.bounds);
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
      case 9:
        cost.forced = in.value();
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

BlockUse read_use(Reader& outer) {
  BlockUse used;
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    if (in.number() == 1) {
      used.milliseconds = in.value();
    } else if (in.number() == 2) {
      used.tokens = in.value();
    } else {
      return false;
    }
    return true;
  });
  return used;
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
      case 50:
        requested.callers.push_back(read_string(in));
        return true;
      case 80:
        requested.used = read_use(in);
        return true;
      case 81:
        requested.call = read_string(in);
        return true;
      case 82:
        requested.sources.push_back(read_string(in));
        return true;
      case 83:
        requested.allowed.push_back(read_string(in));
        return true;
      default:
        return read_scope(in, requested_scope, requested.scope);
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
        attempted.what = static_cast<Attempted::What>(in.value_up_to(3));
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
      case 10:
        attempted.since = static_cast<std::int64_t>(in.value());
        return true;
      case 11:
        attempted.service = read_string(in);
        return true;
      case 12:
        attempted.is_tool = in.value_up_to(1) != 0;
        return true;
      default:
        return read_scope(in, attempted_scope, attempted.scope);
    }
  });
}

Finished::Prompted read_prompted(Reader& outer) {
  Finished::Prompted prompted;
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        prompted.agent = read_string(in);
        return true;
      case 2:
        prompted.kind = static_cast<vm::PromptKind>(in.value_up_to(1));
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
      case 50:
        finished.prompted = read_prompted(in);
        return true;
      case 70:
        finished.tool = read_string(in);
        return true;
      default:
        return read_scope(in, finished_scope, finished.scope);
    }
  });
}

void read_body(Reader& outer, CancelWanted& cancel) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    if (in.number() == 1) {
      cancel.reason = read_string(in);
    } else if (in.number() == 80) {
      cancel.ends_run = in.value_up_to(1) != 0;
    } else {
      return false;
    }
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
      case 52:
        paused.callers.push_back(read_string(in));
        return true;
      case 40:
        paused.why = static_cast<Paused::Why>(in.value_up_to(1));
        return true;
      case 41:
        paused.form = read_text(in);
        return true;
      case 42:
        paused.earlier = static_cast<std::uint32_t>(in.value_up_to(UINT32_MAX));
        return true;
      default:
        return read_scope(in, paused_scope, paused.scope);
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
      case 40:
        continued.wake_at = static_cast<std::int64_t>(in.value());
        return true;
      case 41:
        continued.earlier = static_cast<std::uint32_t>(in.value_up_to(UINT32_MAX));
        return true;
      default:
        return read_scope(in, continued_scope, continued.scope);
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
      case 51:
        ended.added_entries.push_back(read_string(in));
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
      default:
        return read_scope(in, said_scope, said.scope);
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
      case 51:
        taken.added_entries.push_back(read_string(in));
        return true;
      default:
        return false;
    }
  });
}

void read_body(Reader& outer, FlowRefused& refused) {
  read_message(outer.bytes_value(), outer, [&](Reader& in) {
    switch (in.number()) {
      case 1:
        refused.subject = read_string(in);
        return true;
      case 2:
        refused.what = read_string(in);
        return true;
      case 3:
        refused.sources.push_back(read_string(in));
        return true;
      case 4:
        refused.place = read_string(in);
        return true;
      case 7:
        refused.times = in.value();
        return true;
      default:
        return read_scope(in, refused_scope, refused.scope);
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
  if (!in.is_good() || !has_body) return failure(RecordError{"the bytes are not a record"});
  return record;
}

}  // namespace tenon::effects
