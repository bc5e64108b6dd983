#include "tests/simulation/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/effects/extern_calls.h"
#include "tests/simulation/program_maker.h"

namespace tenon::simulation {

using effects::EffectKind;

namespace {

std::string shown(const effects::StoredText& text) {
  return text.hash ? text.hash->hex() : text.text;
}

std::string shown(const effects::FailureText& text) {
  return fmt::format("{}: {} ({}) {}", types::failure_kind_name(text.kind), text.message, text.blame, text.place);
}

std::vector<std::uint64_t> numbers_of(std::string_view path) {
  std::vector<std::uint64_t> numbers;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    std::from_chars(path.data(), path.data() + end, numbers.emplace_back());
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return numbers;
}

/// Whether a run makes the later request only when everything about the earlier one has ended: both are of the same
/// turn, and where their keys part, they count what one branch does in order, not branches that run at once.
bool follows(std::string_view later, std::string_view earlier) {
  const auto turn_of = [](std::string_view key) { return key.substr(0, key.find('/') + 1); };
  if (turn_of(later) != turn_of(earlier)) return false;
  const std::vector<std::uint64_t> after = numbers_of(later.substr(turn_of(later).size()));
  const std::vector<std::uint64_t> before = numbers_of(earlier.substr(turn_of(earlier).size()));
  const auto [one, other] = std::ranges::mismatch(after, before);
  if (one == after.end() || other == before.end()) return false;
  return (one - after.begin()) % 2 == 0 && *other < *one;
}

}  // namespace

CallKey read_call_key(std::string_view key) {
  CallKey parts;
  const std::size_t slash = key.find('/');
  const std::size_t mark = key.rfind('#');
  parts.run = key.substr(0, slash);
  if (slash != std::string_view::npos) parts.request = key.substr(slash + 1, mark - slash - 1);
  if (mark != std::string_view::npos) std::from_chars(key.data() + mark + 1, key.data() + key.size(), parts.answers);
  return parts;
}

void Ledger::take(const std::string& bytes) {
  records_.push_back(bytes);
  const std::uint64_t number = records_.size();
  const auto record = effects::decode_record(bytes);
  if (!record) return add_problem(fmt::format("record {} cannot be read: {}", number, record.error().message));
  if (ends_ > 0) {
    add_problem(fmt::format("record {} (kind {}) follows the run's end: {}", number, record->body.index(),
                            shown(ended_.failure)));
  }
  if (const auto* requested = std::get_if<effects::Requested>(&record->body)) {
    take_request(number, *requested, record->time);
  } else if (const auto* attempted = std::get_if<effects::Attempted>(&record->body)) {
    take_attempt(number, *attempted);
  } else if (const auto* finished = std::get_if<effects::Finished>(&record->body)) {
    take_outcome(number, *finished);
  } else if (std::holds_alternative<effects::TurnStarted>(record->body)) {
    if (turns_started_++ != turns_ended_) add_problem(fmt::format("record {}: a turn begins within another", number));
  } else if (const auto* turn_ended = std::get_if<effects::TurnEnded>(&record->body)) {
    turn_ends_.push_back(*turn_ended);
    check_shields(number);
    if (++turns_ended_ != turns_started_) add_problem(fmt::format("record {}: a turn ends twice", number));
  } else if (const auto* ended = std::get_if<effects::Ended>(&record->body)) {
    ended_ = *ended;
    ++ends_;
    check_shields(number);
    for (const auto& [key, count] : made_) {
      if (is_cancelled_ || finished_.contains(read_call_key(key).request)) continue;
      add_problem(fmt::format("record {}: the run ends without the outcome of {}", number, key));
    }
  } else if (const auto* paused = std::get_if<effects::Paused>(&record->body)) {
    const auto deadline = deadlines_.find(paused->key);
    // A call of a cancelled branch is in doubt when its own time is over, or the longest time that it is waited for.
    const auto once = once_.find(paused->key);
    const bool is_late = (deadline != deadlines_.end() && deadline->second <= record->time) ||
                         (once != once_.end() && once->second + runtime::outlived_call_max.count() <= record->time);
    deadlines_.erase(paused->key);
    if (paused->why == effects::Paused::Why::CutOff) {
      cut_off_.insert(paused->key);
      if (!interrupted_.contains(paused->key) && !is_late) ++doubts_;
    } else {
      ++paused_[paused->key];
    }
  } else if (const auto* continued = std::get_if<effects::Continued>(&record->body)) {
    if (continued->wake_at) deadlines_[continued->key] = *continued->wake_at;
    interrupted_.erase(continued->key);
    ++(cut_off_.erase(continued->key) > 0 ? resolutions_ : continued_)[continued->key];
  } else if (std::holds_alternative<effects::CancelWanted>(record->body)) {
    may_cut_ = may_cut_ || is_cancelled_;  // the second one ends the run at once
    is_cancelled_ = true;
  }
}

void Ledger::take_request(std::uint64_t number, const effects::Requested& requested, std::int64_t time) {
  if (!requested_.emplace(requested.key, requested).second) {
    add_problem(fmt::format("record {}: a second request with the key {}", number, requested.key));
  }
  for (const auto& [key, since] : once_) {
    if (finished_.contains(key) || !follows(requested.key, key)) continue;
    add_problem(
        fmt::format("record {}: a request with the key {} before the outcome of {}", number, requested.key, key));
  }
  if (requested.kind != EffectKind::Extern) return;
  if (requested.subject == "step") {
    const std::string& text = requested.arguments.text;
    const std::string begin = fmt::format("[\"{} ", shield_begins), end = fmt::format("[\"{} ", shield_ends);
    if (text.starts_with(begin)) ++shields_[text.substr(begin.size())];
    if (text.starts_with(end)) --shields_[text.substr(end.size())];
  }
  if (requested.wake_at) deadlines_[requested.key] = *requested.wake_at;
  if (std::ranges::find(once_externs, requested.subject) != once_externs.end()) once_[requested.key] = time;
}

void Ledger::check_shields(std::uint64_t number) {
  for (const auto& [arguments, count] : shields_) {
    if (count == 0 || may_cut_) continue;
    add_problem(fmt::format("record {}: a turn or run ends inside the shield of {}", number, arguments));
  }
  shields_.clear();
}

void Ledger::take_outcome(std::uint64_t number, const effects::Finished& finished) {
  const std::string& key = finished.key;
  if (!requested_.contains(key)) {
    add_problem(fmt::format("record {}: an outcome of {}, which was not asked for", number, key));
  }
  if (!finished_.emplace(key, finished).second) {
    add_problem(fmt::format("record {}: a second outcome of {}", number, key));
  }
  // What says that it was not called was not called, unless the service could not be reached or a person has decided.
  const auto made = made_.find(run_.text + '/' + key);
  if (made == made_.end() || !finished.failure || finished.failure->kind != types::FailureKind::Cancelled) return;
  if (attempts_[key].is_away || made->second <= resolutions_[key]) return;
  add_problem(fmt::format("record {}: {} is said not to be called, and was", number, key));
}

void Ledger::take_attempt(std::uint64_t number, const effects::Attempted& attempted) {
  using What = effects::Attempted::What;
  Attempts& attempts = attempts_[attempted.key];
  if (attempted.what == What::Retried) {
    if (!attempts.is_away)
      add_problem(fmt::format("record {}: a retry of {}, which waits for nothing", number, attempted.key));
    attempts.is_away = false;
    // What could not be reached may be called once more, but not what may have been done.
    if (!interrupted_.contains(attempted.key)) ++resolutions_[attempted.key];
    if (attempted.next_at) deadlines_[attempted.key] = *attempted.next_at;
    return;
  }
  const bool is_transport = attempted.what == What::Transport;
  if (attempted.what == What::Unavailable) deadlines_.erase(attempted.key);
  attempts.next_at = attempted.next_at.value_or(0);
  std::uint32_t& count = is_transport                          ? attempts.sent
                         : attempted.what == What::Unavailable ? attempts.unavailable
                                                               : attempts.unusable;
  // A retry on request starts from the first attempt.
  if (attempted.what == What::Unavailable && attempted.attempt == 0) count = 0;
  if (attempted.attempt != count++) {
    add_problem(fmt::format("record {}: attempt {} of {} is out of order", number, attempted.attempt, attempted.key));
  }
  if (!is_transport) attempts.sent = 0;
  if (attempted.what == What::Unusable) attempts.unavailable = 0;
  if (attempts.is_away) add_problem(fmt::format("record {}: an attempt at {}, which waits", number, attempted.key));
  attempts.is_away = attempted.what == What::Unavailable;
}

void Ledger::acknowledge(const journal::Append& append) {
  if (append.first != records_.size() + 1) {
    return add_problem(fmt::format("the store took record {} after {}", append.first, records_.size()));
  }
  for (const std::string& record : append.records) take(record);
}

void Ledger::recover(const std::vector<journal::Record>& records) {
  for (std::size_t at = 0; at < records_.size(); ++at) {
    if (at >= records.size()) {
      return add_problem(
          fmt::format("{} acknowledged records, of which the disk has kept {}", records_.size(), records.size()));
    }
    if (records[at].bytes != records_[at]) return add_problem(fmt::format("record {} is another one now", at + 1));
  }
  for (std::size_t at = records_.size(); at < records.size(); ++at) take(records[at].bytes);
}

void Ledger::check_start(const std::string& key, std::string_view what) {
  if (!requested_.contains(key)) {
    add_problem(fmt::format("{} {} before its request was durable", what, key));
  } else if (finished_.contains(key)) {
    add_problem(fmt::format("{} {} although its outcome is recorded", what, key));
  } else if (ends_ > 0) {
    add_problem(fmt::format("{} {} after the run's end", what, key));
  } else if (turns_started_ > 0 && turns_started_ == turns_ended_) {
    add_problem(fmt::format("{} {} between turns", what, key));
  }
}

std::optional<std::string> Ledger::find_given(const std::string& request) const {
  const auto found = given_.find(run_.text + '/' + request);
  return found == given_.end() ? std::nullopt : std::optional(found->second);
}

void Ledger::note_interruption(const std::string& key) {
  interrupted_.insert(read_call_key(key).request);
}

void Ledger::call(const std::string& key, const std::string& call, Times times, std::int64_t now_ms) {
  const CallKey parts = read_call_key(key);
  if (times == Times::Once && made_[key]++ > resolutions_[parts.request]) {
    add_problem(fmt::format("{} is made again without a person's decision", key));
  }
  const auto deadline = deadlines_.find(parts.request);
  if (deadline != deadlines_.end() && deadline->second <= now_ms) {
    add_problem(fmt::format("{} is called when its time is over", key));
  }
  if (parts.run != run_.text) add_problem(fmt::format("the key {} is not one of the run", key));
  check_start(parts.request, "calls");
  if (const auto found = attempts_.find(parts.request); found != attempts_.end() && found->second.is_away) {
    add_problem(fmt::format("calls {}, which waits", key));
  }
  if (parts.answers != continued_[parts.request] || paused_[parts.request] != parts.answers) {
    add_problem(fmt::format("{} is called, where {} questions and {} answers are recorded", key, paused_[parts.request],
                            continued_[parts.request]));
  }
  const auto [entry, is_first] = calls_.emplace(key, call);
  if (!is_first) ++repetitions_;
  if (entry->second != call) {
    add_problem(fmt::format("{} was called as {} and then as {}", key, entry->second, call));
  }
}

void Ledger::ask_model(const std::string& key, std::uint32_t attempt, const inference::EarlierAttempts& earlier,
                       std::int64_t now_ms) {
  check_start(key, "asks the model for");
  const auto found = attempts_.find(key);
  const Attempts recorded = found == attempts_.end() ? Attempts{} : found->second;
  if (recorded.is_away) add_problem(fmt::format("asks the model for {}, which waits", key));
  if (attempt != recorded.unusable) {
    add_problem(
        fmt::format("asks the model for {} as attempt {} where {} are recorded", key, attempt, recorded.unusable));
  }
  const std::int64_t wait = recorded.sent == 0 ? 0 : std::max<std::int64_t>(recorded.next_at - now_ms, 0);
  if (earlier.count != recorded.sent || earlier.wait.count() != wait) {
    add_problem(fmt::format("{} is sent after {} attempts, in {} ms, where {} are recorded and {} ms are left", key,
                            earlier.count, earlier.wait.count(), recorded.sent, wait));
  }
}

void Ledger::tell(std::uint64_t first, std::span<const effects::Record> records) {
  for (std::size_t at = 0; at < records.size(); ++at) {
    const std::uint64_t number = first + at;
    if (number > records_.size() || records_[number - 1] != effects::encode(records[at])) {
      add_problem(fmt::format("record {} is published before it is durable", number));
    }
  }
}

void Ledger::tell_run_end() {
  if (ends_ == 0) add_problem("the run's end is published before it is durable");
}

std::string Ledger::interaction() const {
  std::string text;
  for (const auto& [key, requested] : requested_) {
    text += fmt::format("{} {} {}", key, effects::effect_name(requested.kind), requested.subject);
    const bool varies = requested.kind == EffectKind::Now || requested.kind == EffectKind::Random ||
                        requested.subject == varying_extern;
    if (!varies) text += ' ' + requested.request.hex().substr(0, 12) + ' ' + shown(requested.arguments);
    if (const auto found = finished_.find(key); found != finished_.end()) {
      const effects::Finished& finished = found->second;
      if (!varies) text += fmt::format(" => {} {}", finished.clause, shown(finished.value));
      if (finished.failure) text += " failed " + shown(*finished.failure);
      text += fmt::format(" calls {} tokens {}", finished.cost.model_calls, finished.cost.tokens);
    }
    text += '\n';
  }
  for (const effects::TurnEnded& turn : turn_ends_) {
    text += fmt::format("turn {} {} {} {} {} {}\n", turn.turn, static_cast<int>(turn.how), shown(turn.value),
                        shown(turn.failure), shown(turn.state), turn.conversation.hex());
  }
  if (ends_ > 0)
    text += fmt::format("end {} {} {}\n", static_cast<int>(ended_.how), shown(ended_.value), shown(ended_.failure));
  return text;
}

}  // namespace tenon::simulation
