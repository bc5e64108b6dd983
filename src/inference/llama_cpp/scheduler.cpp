#include "inference/llama_cpp/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/counted.h"
#include "base/ensure.h"

namespace tenon::inference::llama_cpp {
namespace {

/// Cells that a generation is promised for its answer when it is admitted. Answers may grow longer: most are short, and
/// the generation that came last makes way when room does run out.
constexpr std::uint32_t answer_reserve_tokens = 64;

/// Where cells must ascend, a full cache is cleared for waiting generations even while others are in progress, if these
/// use at most this part of it and half of it is dead: evaluating them again costs little then.
constexpr std::uint32_t begin_anew_part = 8;

/// How many of the waiting are looked at in one step.
constexpr int admissions_looked_at_max = 64;

/// A text is given in one attempt; nothing is ever sent again here.
constexpr std::uint32_t attempt = 1;

Scheduler::Clock::time_point find_deadline(const Generation& generation) {
  constexpr std::chrono::milliseconds timeout_max = std::chrono::hours(24 * 365);
  if (generation.request.timeout > timeout_max) return Scheduler::Clock::time_point::max();
  return generation.started_at + generation.request.timeout;
}

}  // namespace

Scheduler::Scheduler(Engine& engine, PromptTokenizer& tokenizer, std::string name,
                     std::function<Clock::time_point()> now)
    : engine_(engine),
      tokenizer_(tokenizer),
      name_(std::move(name)),
      now_(std::move(now)),
      cache_(engine, engine.cache_options()) {}

void Scheduler::start(GenerationId id, GenerationRequest request, GenerationSink& sink) {
  auto generation = std::make_unique<Generation>(id, std::move(request), sink, now_());
  next_deadline_ = std::min(next_deadline_, find_deadline(*generation));
  generation->place = waiting_.insert(waiting_.end(), generation.get());
  const bool is_new = generations_.emplace(id, std::move(generation)).second;
  ENSURE(is_new);
}

void Scheduler::cancel(GenerationId id) {
  const auto found = generations_.find(id);
  if (found == generations_.end()) return;
  fail(*found->second, ModelErrorKind::Cancelled, "The generation was cancelled.");
}

void Scheduler::step() {
  end_expired();
  admit();
  choose_from_kept_logits();
  std::vector<Engine::Row> rows;
  compose(rows);
  while (!cache_.make_room(static_cast<std::uint32_t>(rows.size()))) {
    make_way();
    compose(rows);
  }
  if (!rows.empty()) evaluate(rows);
}

void Scheduler::report() {
  if (reporting_) return;  // a sink has called us; the loop below continues with what it caused
  reporting_ = true;
  while (!events_.empty()) {
    const Event event = std::move(events_.front());
    events_.pop_front();
    if (event.outcome != nullptr) {
      event.sink->on_finished(event.generation, std::move(*event.outcome));
    } else {
      event.sink->on_text(event.generation, attempt, event.text);
    }
  }
  reporting_ = false;
}

void Scheduler::end_expired() {
  const Clock::time_point now = now_();
  if (now < next_deadline_) return;
  std::vector<Generation*> expired;
  next_deadline_ = Clock::time_point::max();
  for (const auto& [id, generation] : generations_) {
    const Clock::time_point deadline = find_deadline(*generation);
    if (deadline <= now) {
      expired.push_back(generation.get());
    } else {
      next_deadline_ = std::min(next_deadline_, deadline);
    }
  }
  std::sort(expired.begin(), expired.end(), [](const Generation* a, const Generation* b) { return a->id < b->id; });
  for (Generation* generation : expired) {
    fail(*generation, ModelErrorKind::TimedOut,
         fmt::format("The model did not finish its answer within {} ms.", generation->request.timeout.count()));
  }
}

void Scheduler::admit() {
  int looked_at = 0;
  for (auto next = waiting_.begin(); next != waiting_.end() && looked_at < admissions_looked_at_max; ++looked_at) {
    Generation& generation = **next;
    ++next;  // admitting and failing take the generation out of the list
    if (!generation.is_prepared() && !prepare(generation)) continue;
    switch (try_admit(generation)) {
      case Admission::Admitted:
        waiting_.erase(generation.place);
        active_.push_back(&generation);
        break;
      case Admission::Waits:
        break;
      case Admission::CacheIsWornOut:
        begin_anew();
        return;
      case Admission::NoRoom:
        return;  // no shorter prompt overtakes, or a long one would wait forever
    }
  }
}

Scheduler::Admission Scheduler::try_admit(Generation& generation) {
  KvCache::Match match = cache_.find_longest(generation.path());
  if (match.planned > match.evaluated) return Admission::Waits;
  std::uint32_t load = cache_.measure_load(generation.path(), match) + measure_reserve(generation);
  for (const Generation* other : active_) load += count_pending(*other) + measure_reserve(*other);
  if (load > cache_.cells_max()) {
    const bool ascends = cache_.order() == KvCacheOptions::CellOrder::Ascending;
    if (!active_.empty()) {
      const std::uint32_t dead = cache_.cells_used() - cache_.cells_in_use();
      const bool worn_out =
          ascends && cache_.cells_in_use() <= cache_.cells_max() / begin_anew_part && dead >= cache_.cells_max() / 2;
      return worn_out ? Admission::CacheIsWornOut : Admission::NoRoom;
    }
    if (ascends) {
      cache_.clear();
      match = {};
    }
  }
  const std::optional<SequenceNumber> sequence = cache_.take(generation.path(), match);
  if (!sequence) return Admission::NoRoom;
  generation.sequence = sequence;
  if (!generation.was_admitted) {
    generation.was_admitted = true;
    generation.usage.reused = std::min(cache_.evaluated_of(*sequence), generation.prompt_tokens());
  }
  return Admission::Admitted;
}

Result<std::optional<decoding::Constraint>, decoding::DecodingError> Scheduler::compile_constraint(
    const GenerationRequest& request) {
  if (request.schema == nullptr && request.text_form == nullptr) return std::nullopt;
  if (constraints_ == nullptr) {
    auto opened = engine_.vocabulary().describe_for_decoding().and_then(&decoding::ConstraintCompiler::open);
    if (!opened) return failure(std::move(opened.error()));
    constraints_ = std::move(*opened);
  }
  if (request.schema != nullptr) {
    auto compiled = constraints_->compile(request.schema->json_schema);
    if (compiled) return std::move(*compiled);
    return failure(decoding::DecodingError{
        fmt::format("The schema `{}` cannot be enforced: {}.", request.schema->name, compiled.error().message)});
  }
  auto compiled = constraints_->compile_text(*request.text_form);
  if (compiled) return std::move(*compiled);
  return failure(decoding::DecodingError{fmt::format("The constraints on the text for `{}` cannot be enforced: {}.",
                                                     request.label, compiled.error().message)});
}

bool Scheduler::prepare(Generation& generation) {
  const std::uint32_t context_tokens = engine_.context_tokens();
  auto prompt = tokenizer_.tokenize(generation.request.messages, context_tokens);
  if (!prompt) {
    fail(generation, prompt.error().kind, prompt.error().message);
    return false;
  }
  generation.request.messages = {};  // thousands may wait
  generation.usage.prompt = static_cast<std::uint32_t>(prompt->size());
  if (prompt->empty()) {
    fail(generation, ModelErrorKind::Rejected, "The prompt is empty.");
    return false;
  }
  if (prompt->size() >= context_tokens) {
    fail(generation, ModelErrorKind::ContextFull,
         fmt::format("The prompt has {}; the context of {} has room for {}, including the answer.",
                     counted(prompt->size(), "token"), name_, context_tokens));
    return false;
  }
  auto constraint = compile_constraint(generation.request);
  if (!constraint) {
    fail(generation, ModelErrorKind::Rejected, std::move(constraint.error().message));
    return false;
  }
  const bool stops = generation.request.schema == nullptr && tokenizer_.frame().kind == PromptFrame::Kind::Raw;
  const auto prepared = generation.prepare(engine_.vocabulary(), std::move(*prompt), std::move(*constraint),
                                           stops ? tokenizer_.frame().raw.stop : "", context_tokens);
  if (!prepared) {
    fail(generation, ModelErrorKind::Rejected, prepared.error().message);
    return false;
  }
  if (generation.finish()) {
    succeed(generation);  // the constraint allows one answer only
    return false;
  }
  return true;
}

void Scheduler::choose_from_kept_logits() {
  const std::vector<Generation*> active = active_;
  for (Generation* generation : active) {
    if (count_pending(*generation) > 0) continue;
    const std::span<const float> logits = cache_.find_logits(*generation->sequence);
    ENSURE(!logits.empty());
    advance(*generation, logits);
  }
}

void Scheduler::compose(std::vector<Engine::Row>& rows) {
  rows.clear();
  bool all_fit = true;
  const auto add = [&](const Generation& generation) {
    const std::uint32_t evaluated = cache_.evaluated_of(*generation.sequence);
    const std::span<const Token> path = generation.path();
    for (std::uint32_t position = evaluated; position < path.size(); ++position) {
      if (rows.size() == engine_.rows_max()) {
        all_fit = false;
        return;
      }
      const bool last = position + 1 == path.size();
      rows.push_back({.sequence = *generation.sequence,
                      .position = position,
                      .token = path[position],
                      .output = last ? Engine::Row::Output::Logits : Engine::Row::Output::None});
    }
  };
  const auto is_answering = [&](const Generation& generation) {
    return cache_.evaluated_of(*generation.sequence) >= generation.first_choice_at();
  };
  // Answers first: a row each keeps them going while prompts are read.
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const Generation& generation = *active_[(first_answering_ + i) % active_.size()];
    if (is_answering(generation)) add(generation);
  }
  if (!all_fit) ++first_answering_;
  for (const Generation* generation : active_) {
    if (!is_answering(*generation)) add(*generation);
  }
}

void Scheduler::evaluate(const std::vector<Engine::Row>& rows) {
  if (const auto evaluated = engine_.evaluate(rows); !evaluated) {
    // The contents of the memory are unknown: drop them, end those that took part, let the others start again.
    std::vector<Generation*> took_part;
    for (const Engine::Row& row : rows) {
      Generation* generation = find_by_sequence(row.sequence);
      if (took_part.empty() || took_part.back() != generation) took_part.push_back(generation);
    }
    while (!active_.empty()) set_aside(*active_.back());
    cache_.clear();
    for (Generation* generation : took_part) fail(*generation, ModelErrorKind::BadReply, evaluated.error().message);
    return;
  }
  for (const Engine::Row& row : rows) {
    cache_.mark_evaluated(row.sequence, 1);
    Generation& generation = *find_by_sequence(row.sequence);
    if (row.position < generation.prompt_tokens()) ++generation.usage.computed;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].output == Engine::Row::Output::None) continue;
    Generation& generation = *find_by_sequence(rows[i].sequence);
    const std::span<const float> logits = engine_.logits_of(i);
    if (rows[i].position + 1 == generation.first_choice_at()) cache_.keep_logits(rows[i].sequence, logits);
    advance(generation, logits);
  }
}

void Scheduler::advance(Generation& generation, std::span<const float> logits) {
  const auto advanced = generation.advance(logits);
  if (!advanced) {
    fail(generation, ModelErrorKind::Rejected,
         fmt::format("The answer cannot be constrained to its schema: {}.", advanced.error().message));
    return;
  }
  if (std::string text = generation.take_new_text(); !text.empty()) {
    events_.push_back({generation.sink, generation.id, std::move(text), nullptr});
  }
  if (generation.finish()) {
    succeed(generation);
    return;
  }
  const std::size_t known = cache_.tokens_of(*generation.sequence).size();
  cache_.append(*generation.sequence, generation.path().subspan(known));
}

/// Makes room by letting the generation that came last wait again; where cells must ascend, by beginning anew.
void Scheduler::make_way() {
  if (cache_.order() == KvCacheOptions::CellOrder::Ascending) {
    begin_anew();
    return;
  }
  ENSURE(active_.size() > 1);  // one alone always has room: its path is no longer than the context
  set_aside(*active_.back());
}

/// Sets all generations in progress aside, and admits them and others to an empty cache, in order of arrival.
void Scheduler::begin_anew() {
  while (!active_.empty()) set_aside(*active_.back());
  cache_.clear();
  admit();
}

/// Lets a generation wait again. Its tokens stay known, and its cells are kept while there is room.
void Scheduler::set_aside(Generation& generation) {
  cache_.release(*generation.sequence);
  generation.sequence.reset();
  std::erase(active_, &generation);
  generation.place = waiting_.insert(waiting_.begin(), &generation);
}

void Scheduler::fail(Generation& generation, ModelErrorKind kind, std::string message) {
  generation.usage.milliseconds = std::chrono::duration<double, std::milli>(now_() - generation.started_at).count();
  auto outcome = std::make_unique<GenerationOutcome>(ModelError{kind, std::move(message), generation.usage});
  events_.push_back({generation.sink, generation.id, {}, std::move(outcome)});
  remove(generation);
}

void Scheduler::succeed(Generation& generation) {
  if (std::string text = generation.take_new_text(); !text.empty()) {
    events_.push_back({generation.sink, generation.id, std::move(text), nullptr});
  }
  generation.usage.milliseconds = std::chrono::duration<double, std::milli>(now_() - generation.started_at).count();
  auto outcome =
      std::make_unique<GenerationOutcome>(Answer{generation.text(), *generation.finish(), generation.usage, name_});
  events_.push_back({generation.sink, generation.id, {}, std::move(outcome)});
  remove(generation);
}

void Scheduler::remove(Generation& generation) {
  if (generation.sequence) {
    cache_.release(*generation.sequence);
    std::erase(active_, &generation);
  } else {
    waiting_.erase(generation.place);
  }
  generations_.erase(generation.id);
}

std::uint32_t Scheduler::measure_reserve(const Generation& generation) const {
  return std::min(generation.tokens_left(), answer_reserve_tokens);
}

std::uint32_t Scheduler::count_pending(const Generation& generation) const {
  return static_cast<std::uint32_t>(generation.path().size()) - cache_.evaluated_of(*generation.sequence);
}

Generation* Scheduler::find_by_sequence(SequenceNumber sequence) const {
  const auto found = std::find_if(active_.begin(), active_.end(),
                                  [&](const Generation* generation) { return generation->sequence == sequence; });
  ENSURE(found != active_.end());
  return *found;
}

}  // namespace tenon::inference::llama_cpp
