#include "runtime/recovery/recovery.h"

#include <fmt/format.h>

#include "base/ensure.h"
#include "base/wire.h"
#include "bytecode/agents.h"
#include "effects/pieces.h"
#include "runtime/recording/run_journal.h"
#include "runtime/recovery/asked_questions.h"
#include "runtime/recovery/snapshot_fields.h"
#include "runtime/run_options.h"
#include "vm/values/context.h"

namespace tenon::runtime {
namespace {

RecoveryError store_error(const journal::StoreError& error) {
  return {error.message, error.kind};
}

RecoveryError replay_error(const journal::RunName& run, const ReplayError& error) {
  const std::string place = error.record == 0 ? "" : fmt::format(", record {}", error.record);
  return {fmt::format("run {}{}: {}", run.text, place, error.message), std::nullopt, error.is_of_process};
}

/// The total size of the newest entries of a conversation that its snapshot contains, so that they need not be looked
/// up in the store one by one. Bounded, because each turn writes a snapshot.
constexpr std::size_t recent_bytes_max = 4'096;

/// An entry of a conversation's context, as a snapshot has it.
struct Entry {
  std::uint8_t role = 0;
  std::string text;
  Sources sources;  ///< of a message of the current turn
};

bool read_entry(std::string_view bytes, Entry& entry) {
  wire::Reader in(bytes);
  while (in.next_field()) {
    if (in.number() == 1) {
      entry.role = static_cast<std::uint8_t>(in.value_up_to(bytecode::entry_role_count - 1));
    } else if (in.number() == 2) {
      entry.text = in.bytes_value();
    } else if (in.number() != 3 || !read_source(in.bytes_value(), entry.sources)) {
      in.reject();
    }
  }
  return in.is_good();
}

wire::Writer write_entry(std::uint8_t role, std::string_view text) {
  wire::Writer out;
  out.field(1, std::uint64_t{role});
  out.field(2, text);
  return out;
}

wire::Writer write_labels(const Conversation::Labels& labels) {
  wire::Writer out;
  for (const Conversation::Labels::Answers& answers : labels.answers) {
    wire::Writer message;
    message.field(1, answers.from + 1U);
    write_sources(message, 2, answers.sources);
    out.present_field(1, message);
  }
  for (const auto& [agent, state] : labels.states) {
    wire::Writer message;
    message.field(1, agent);
    for (const Sources& sources : state) {
      wire::Writer entry;
      write_sources(entry, 1, sources);
      message.present_field(2, entry);
    }
    out.present_field(2, message);
  }
  write_sources(out, 3, labels.handoffs);
  wire::Writer questions;
  write_sources(questions, 1, labels.questions);
  for (const auto& [entry, sources] : labels.replies) {
    wire::Writer message;
    message.field(1, entry + 1U);
    write_sources(message, 2, sources);
    questions.present_field(2, message);
  }
  out.present_field(4, questions);
  return out;
}

bool read_answers(std::string_view bytes, Conversation::Labels::Answers& answers) {
  wire::Reader in(bytes);
  while (in.next_field()) {
    if (in.number() == 1) {
      answers.from = in.value32() - 1U;
    } else if (in.number() != 2 || !read_source(in.bytes_value(), answers.sources)) {
      in.reject();
    }
  }
  return in.is_good();
}

bool read_state_sources(std::string_view bytes, std::map<std::string, StateSources>& states) {
  wire::Reader in(bytes);
  std::string agent;
  StateSources state;
  while (in.next_field()) {
    if (in.number() == 1) {
      agent = in.bytes_value();
      continue;
    }
    if (in.number() != 2) in.reject();
    wire::Reader entry(in.bytes_value());
    Sources& sources = state.emplace_back();
    while (entry.next_field()) {
      if (entry.number() != 1 || !read_source(entry.bytes_value(), sources)) in.reject();
    }
    if (!entry.is_good()) in.reject();
  }
  return in.is_good() && states.emplace(std::move(agent), std::move(state)).second;
}

bool read_questions(std::string_view bytes, Conversation::Labels& labels) {
  wire::Reader in(bytes);
  while (in.next_field()) {
    if (in.number() == 1) {
      if (!read_source(in.bytes_value(), labels.questions)) in.reject();
      continue;
    }
    Conversation::Labels::Answers reply;
    if (in.number() != 2 || !read_answers(in.bytes_value(), reply)) in.reject();
    labels.replies.insert_or_assign(reply.from, std::move(reply.sources));
  }
  return in.is_good();
}

bool read_labels(std::string_view bytes, Conversation::Labels& labels) {
  wire::Reader in(bytes);
  bool has_questions = false;
  while (in.next_field()) {
    if (in.number() == 1) {
      if (!read_answers(in.bytes_value(), labels.answers.emplace_back())) in.reject();
    } else if (in.number() == 2) {
      if (!read_state_sources(in.bytes_value(), labels.states)) in.reject();
    } else if (in.number() == 4) {
      has_questions = true;
      if (!read_questions(in.bytes_value(), labels)) in.reject();
    } else if (in.number() != 3 || !read_source(in.bytes_value(), labels.handoffs)) {
      in.reject();
    }
  }
  // In older snapshots, the questions alone say why they were asked, and the answers after them.
  if (!has_questions && !labels.answers.empty()) labels.questions = labels.answers.back().sources;
  return in.is_good();
}

/// Feeds a run's records to its machine, or to those of its turns.
class Recovery {
 public:
  Recovery(journal::RunReader& store, RecoveredRun& run, const ImageSource& images,
           const ReplayedGeneration& on_replayed, RecoveryObserver* observer)
      : store_(store), run_(run), images_(images), on_replayed_(on_replayed), observer_(observer) {}

  using Done = Result<void, ReplayError>;

  /// Finds the function or the agent.
  Done begin() {
    const bytecode::Program& program = run_.image->program();
    if (run_.started.agent.empty()) {
      const auto function = find_function(program, run_.started.function);
      if (!function) return wrong(1, "the program has no function `" + run_.started.function + "`");
      run_.function = *function;
      return {};
    }
    const auto agent = bytecode::find_agent(program, run_.started.agent);
    if (!agent) return wrong(1, "the program has no agent `" + run_.started.agent + "`");
    run_.conversation = std::make_unique<Conversation>(run_.image, *agent);
    run_.function = program.agents[*agent].turn;
    return {};
  }

  /// The machine of a run of a function that no snapshot has.
  Done start_function() {
    if (run_.conversation || run_.core) return {};
    auto arguments = text_of(run_.started.arguments);
    if (!arguments) return failure(std::move(arguments.error()));
    auto begun = read_start(*run_.image, run_.started, *arguments);
    if (!begun) return failure(std::move(begun.error()));
    run_.core = std::make_unique<RunCore>(run_.image, begun->function, std::move(begun->arguments),
                                          to_options(run_.started.settings).budgets, RunCore::Recording::On);
    if (observer_ != nullptr) observer_->on_begun(run_, *arguments);
    run_until_quiescent();
    return {};
  }

  Done read_snapshot(std::string_view bytes) {
    wire::Reader in(bytes);
    while (in.next_field()) {
      if (in.number() == snapshot_conversation && run_.conversation) {
        if (auto read = read_conversation(in.bytes_value()); !read) return read;
      } else if (in.number() == snapshot_core) {
        const std::string prefix = run_.conversation ? Conversation::key_prefix(run_.conversation->turns()) : "";
        auto core = RunCore::read_snapshot(run_.image, in.bytes_value(), prefix);
        if (!core) return failure(std::move(core.error()));
        run_.core = std::make_unique<RunCore>(std::move(*core));
      } else if (in.number() == snapshot_start) {
        static_cast<void>(in.bytes_value());  // was read before
      } else if (in.number() == snapshot_asked) {
        run_.asked = in.value();
      } else {
        in.reject();
      }
    }
    if (!in.is_good()) return wrong(0, "the snapshot's bytes are not those of a run");
    return {};
  }

  Done take(std::uint64_t number, const effects::Record& record, std::string bytes) {
    if (const auto* const ended = std::get_if<effects::Ended>(&record.body)) {
      run_.ended = *ended;
      return {};
    }
    if (const auto* const wanted = std::get_if<effects::CancelWanted>(&record.body)) {
      const bool in_turn = run_.core && (!run_.conversation || run_.conversation->is_in_turn());
      if (!in_turn || !run_.core->cancel(*wanted)) return {};
      if (observer_ != nullptr) observer_->on_cancelled(run_, *wanted);
      run_until_quiescent();
      return {};
    }
    // These only repeat what follows from the other records.
    if (std::holds_alternative<effects::Said>(record.body)) return {};
    if (std::holds_alternative<effects::StateChanged>(record.body)) return {};
    if (const auto* const started = std::get_if<effects::TurnStarted>(&record.body)) return take(number, *started);
    if (const auto* const taken = std::get_if<effects::ProgramTaken>(&record.body)) return take(number, *taken);
    if (!run_.core) return wrong(number, "unexpected record: no turn is in progress");
    if (const auto* const ended = std::get_if<effects::TurnEnded>(&record.body)) return take(number, *ended);
    if (const auto* const finished = std::get_if<effects::Finished>(&record.body)) return take(number, *finished);
    const auto* const requested = std::get_if<effects::Requested>(&record.body);
    if (requested != nullptr && requested->kind == effects::EffectKind::HandedOff && requested->scope.depth == 0 &&
        run_.conversation) {
      run_.conversation->hand_off(requested->subject);
    }
    if (observer_ != nullptr) {
      const auto* const refused = std::get_if<effects::FlowRefused>(&record.body);
      if (requested != nullptr) observer_->on_requested(run_, *requested);
      if (refused != nullptr) observer_->on_refused(run_, *refused);
    }
    return run_.core->take(number, record, std::move(bytes));
  }

 private:
  static tl::unexpected<ReplayError> wrong(std::uint64_t number, std::string message) {
    return failure(ReplayError{number, std::move(message)});
  }

  Result<std::string, ReplayError> text_of(const effects::StoredText& text) const {
    auto resolved = resolve(store_, run_.head.run, text);
    if (!resolved) return wrong(0, resolved.error().message);
    return std::move(*resolved);
  }

  /// The same for the agent's state, whose pieces the run's journal then knows.
  Result<std::string, ReplayError> state_of(const effects::StoredText& text) const {
    run_.state_pieces.clear();
    auto resolved = resolve(store_, run_.head.run, text, &run_.state_pieces);
    if (!resolved) return wrong(0, resolved.error().message);
    return std::move(*resolved);
  }

  void run_until_quiescent() {
    while (!run_.core->advance(UINT64_MAX).is_quiescent) {
    }
    if (observer_ != nullptr) observer_->on_quiescent(run_);
  }

  Done take(std::uint64_t number, const effects::ProgramTaken& taken) {
    if (!run_.conversation || run_.conversation->is_in_turn())
      return wrong(number, "unexpected record: a program upgrade during a turn");
    if (auto found = use_program(number, taken.program, taken.agent); !found) return found;
    auto state = state_of(taken.state);
    if (!state) return failure(std::move(state.error()));
    run_.conversation->restore_state(std::move(*state));
    run_.conversation->note_state(taken.state);
    run_.started.settings.libraries = taken.libraries;
    if (!taken.secret_key.empty()) run_.started.secret_key = taken.secret_key;
    if (observer_ != nullptr) observer_->on_program_taken(run_);
    return {};
  }

  /// The program of that hash continues the conversation.
  Done use_program(std::uint64_t number, const Hash& hash, std::string_view agent) {
    auto bundle = store_.content(run_.head.run, hash);
    if (!bundle) return wrong(number, bundle.error().message);
    auto image = images_(hash, *bundle);
    if (!image) return failure(ReplayError{number, image.error().message, image.error().is_of_process});
    if (!run_.conversation->restore_program(*image, agent)) {
      return wrong(number, fmt::format("the program has no agent `{}`", agent));
    }
    run_.image = std::move(*image);
    run_.function = run_.conversation->declaration().turn;
    return {};
  }

  Done take(std::uint64_t number, const effects::TurnStarted& started) {
    if (!run_.conversation) return wrong(number, "a turn begins in the run of a function");
    auto input = text_of(started.input);
    if (!input) return failure(std::move(input.error()));
    auto core = run_.conversation->begin(*input, to_options(run_.started.settings), RunCore::Recording::On);
    if (!core) return wrong(number, core.error().message);
    run_.core = std::move(*core);
    run_.turn_ended.reset();
    if (observer_ != nullptr) observer_->on_begun(run_, *input);
    run_until_quiescent();
    return {};
  }

  Done take(std::uint64_t number, const effects::TurnEnded& ended) {
    if (!run_.conversation || !run_.conversation->is_in_turn()) return wrong(number, "a turn ends that has not begun");
    const auto& end = run_.core->end();
    const auto* const finished = end ? std::get_if<vm::Finished>(&*end) : nullptr;
    // An interrupted turn may be at any point: the machine here has continued until it is quiescent, or has ended.
    const bool has_returned = ended.how == effects::Ended::How::Returned;
    if (has_returned && finished == nullptr) {
      return wrong(number, "the recorded turn returned, but the replay did not");
    }
    auto state = state_of(ended.state);
    if (!state) return failure(std::move(state.error()));
    const std::string went_on = run_.conversation->declaration().name;
    const types::TypeId result = run_.image->program().functions[run_.conversation->declaration().turn].result;
    const bool is_failure = ended.how == effects::Ended::How::Failed;
    run_.conversation->end(*run_.core, has_returned ? &finished->value : nullptr,
                           is_failure ? std::optional(ended.failure.kind) : std::nullopt);
    // In older records, which do not name the agent of the next turn, a failed turn leaves it to its last agent.
    if (!ended.agent.empty() || is_failure) run_.conversation->hand_off(ended.agent.empty() ? went_on : ended.agent);
    run_.turn_ended = ended;
    if (observer_ != nullptr && has_returned) observer_->on_turn_rebuilt(run_, result, *state);
    run_.conversation->restore_state(std::move(*state));
    run_.conversation->note_state(ended.state);
    if (observer_ != nullptr) observer_->on_turn_ended(run_);
    return {};
  }

  Done take(std::uint64_t number, const effects::Finished& finished) {
    auto value = text_of(finished.value);
    if (!value) return failure(std::move(value.error()));
    const OpenRequest* const open = run_.core->find(finished.key);
    if (open != nullptr && on_replayed_ && effects::is_generation(open->described.kind)) {
      on_replayed_(*run_.image, run_.started.settings, *open, finished.cost.model_calls);
    }
    if (open != nullptr && run_.conversation && open->described.kind == effects::EffectKind::Ask &&
        open->request.depth == 0 && !finished.failure) {
      const types::TypeId type = run_.image->program().externs[open->request.subject].result;
      const auto answer = effects::read_value(*value, type, run_.image->program().types);
      if (!answer) return wrong(number, answer.error().message);
      run_.conversation->add_answer(open->request, sources_of(run_.core->machine().labels(), open->request.label),
                                    *answer);
    }
    if (open != nullptr && observer_ != nullptr) observer_->on_outcome(run_, finished, *value);
    auto taken = run_.core->take(number, finished, std::move(*value));
    if (taken && observer_ != nullptr) observer_->on_quiescent(run_);
    return taken;
  }

  Done read_conversation(std::string_view bytes) {
    wire::Reader in(bytes);
    std::uint64_t turns = 0;
    std::string state;
    effects::StoredText kept_state;  // if it is not in the snapshot
    std::map<std::string, std::string> kept_states;
    vm::Value history = vm::Value::empty_context();
    Hash history_hash;
    Hash older;
    std::vector<Entry> recent;
    std::vector<Conversation::Message> messages;
    std::string agent(run_.conversation->declaration().name);
    std::string agent_before;
    std::optional<Hash> program;
    std::optional<Conversation::Labels> labels;
    while (in.next_field()) {
      switch (in.number()) {
        case conversation_turns:
          turns = in.value();
          break;
        case conversation_state:
          state = in.bytes_value();
          break;
        case conversation_history:
        case conversation_older: {
          const bool is_history = in.number() == conversation_history;
          const auto hash = Hash::from_bytes(in.bytes_value());
          if (!hash) return wrong(0, "the snapshot's bytes are not those of a conversation");
          (is_history ? history_hash : older) = *hash;
          break;
        }
        case conversation_recent:
          if (!read_entry(in.bytes_value(), recent.emplace_back())) in.reject();
          break;
        case conversation_turn_messages: {
          Entry entry;
          if (!read_entry(in.bytes_value(), entry)) in.reject();
          messages.push_back(
              {static_cast<bytecode::EntryRole>(entry.role), std::move(entry.text), std::move(entry.sources)});
          break;
        }
        case conversation_kept_state: {
          wire::Reader entry(in.bytes_value());
          std::string name, text;
          while (entry.next_field()) (entry.number() == 1 ? name : text) = entry.bytes_value();
          if (!entry.is_good() || !kept_states.emplace(std::move(name), std::move(text)).second) in.reject();
          break;
        }
        case conversation_agent:
          agent = in.bytes_value();
          break;
        case conversation_program:
          program = Hash::from_bytes(in.bytes_value());
          if (!program) in.reject();
          break;
        case conversation_agent_before:
          agent_before = in.bytes_value();
          break;
        case conversation_state_pieces:
          kept_state = {{}, Hash::from_bytes(in.bytes_value()), true};
          if (!kept_state.hash) in.reject();
          break;
        case conversation_labels:
          if (!read_labels(in.bytes_value(), labels.emplace())) in.reject();
          break;
        default:
          in.reject();
      }
    }
    if (!in.is_good()) return wrong(0, "the snapshot's bytes are not those of a conversation");
    if (program) {
      if (auto found = use_program(0, *program, agent); !found) return found;
    } else {
      run_.conversation->hand_off(agent);
    }
    if (!agent_before.empty()) run_.conversation->restore_agent_before(agent_before);
    run_.conversation->restore_labels(std::move(labels));
    if (!history_hash.is_zero()) {
      const Hash node = recent.empty() ? history_hash : older;
      auto read = read_context(node, std::move(recent));
      if (!read) return failure(std::move(read.error()));
      history = std::move(*read);
      if (vm::context_hash(history) != history_hash) return wrong(0, "the snapshot's conversation is another one");
    }
    if (kept_state.hash) {
      auto read = state_of(kept_state);
      if (!read) return failure(std::move(read.error()));
      state = std::move(*read);
    }
    run_.conversation->restore(turns, std::move(state), std::move(kept_states), std::move(history));
    run_.conversation->note_state(kept_state);
    if (!messages.empty()) run_.conversation->restore_turn(std::move(messages));
    return {};
  }

  /// The chain of contents that ends in the node, followed by the `newer` entries, oldest first.
  Result<vm::Value, ReplayError> read_context(Hash node, std::vector<Entry> newer) const {
    std::vector<Entry> entries(std::make_move_iterator(newer.rbegin()), std::make_move_iterator(newer.rend()));
    while (!node.is_zero()) {
      auto bytes = store_.content(run_.head.run, node);
      if (!bytes) return wrong(0, bytes.error().message);
      Entry& entry = entries.emplace_back();
      if (!vm::read_recorded_node(*bytes, node, entry.role, entry.text)) {
        return wrong(0, "the content of a context is damaged");
      }
    }
    vm::Value context = vm::Value::empty_context();
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      const auto role = static_cast<bytecode::EntryRole>(entry->role);
      if (!run_.conversation->add_entry(context, std::move(entry->text), role)) {
        return wrong(0, "the content of a context is not a text");
      }
    }
    static_cast<void>(vm::take_unrecorded(context));  // the store has it
    return context;
  }

  journal::RunReader& store_;
  RecoveredRun& run_;
  const ImageSource& images_;
  const ReplayedGeneration& on_replayed_;
  RecoveryObserver* observer_;
};

}  // namespace

Result<std::string, journal::StoreError> resolve(journal::RunReader& store, const journal::RunName& run,
                                                 const effects::StoredText& text, std::unordered_set<Hash>* pieces) {
  if (!text.hash) return text.text;
  if (!text.is_in_pieces) return store.content(run, *text.hash);
  std::optional<journal::StoreError> problem;
  const auto content = [&](const Hash& hash) -> std::optional<std::string> {
    auto bytes = store.content(run, hash);
    if (bytes) return std::move(*bytes);
    problem = std::move(bytes.error());
    return std::nullopt;
  };
  auto joined = effects::join_pieces(*text.hash, content, journal::append_bytes_max, pieces);
  if (joined) return std::move(*joined);
  if (problem) return failure(std::move(*problem));
  return failure(
      journal::StoreError{journal::StoreError::Kind::Damaged,
                          fmt::format("run {}: content {} is not a text in pieces", run.text, text.hash->hex())});
}

Result<effects::Started, RecoveryError> read_started(journal::RunReader& store, const journal::RunName& run) {
  const auto damaged = [&](std::string_view what) {
    return failure(RecoveryError{fmt::format("run {}, record 1: {}", run.text, what)});
  };
  auto first = store.read(run, 0, 1);
  if (!first) return failure(store_error(first.error()));
  if (first->empty()) return damaged("the run has no records");
  auto start = effects::decode_record(first->front().bytes);
  if (!start) return damaged(start.error().message);
  auto* const started = std::get_if<effects::Started>(&start->body);
  if (started == nullptr) return damaged("the run does not begin with its start");
  return std::move(*started);
}

Result<effects::Started, RecoveryError> read_program(journal::RunReader& store, const journal::RunName& run) {
  auto started = read_started(store, run);
  if (!started || started->agent.empty()) return started;
  std::uint64_t after = 1;
  for (;;) {
    auto records = store.read(run, after, records_per_read);
    if (!records) return failure(store_error(records.error()));
    if (records->empty()) return started;
    for (const journal::Record& raw : *records) {
      after = raw.number;
      auto record = effects::decode_record(raw.bytes);
      const auto* const taken = record ? std::get_if<effects::ProgramTaken>(&record->body) : nullptr;
      if (taken == nullptr) continue;
      started->program = taken->program;
      started->settings.libraries = taken->libraries;
      if (!taken->secret_key.empty()) started->secret_key = taken->secret_key;
    }
  }
}

std::optional<effects::Started> find_start(std::string_view snapshot) {
  wire::Reader in(snapshot);
  while (in.next_field()) {
    const std::string_view bytes = in.bytes_value();
    if (in.number() != snapshot_start) continue;
    auto record = effects::decode_record(bytes);
    if (!record || !std::holds_alternative<effects::Started>(record->body)) return std::nullopt;
    return std::get<effects::Started>(std::move(record->body));
  }
  return std::nullopt;
}

static Result<void, RecoveryError> commit_cancel(journal::Store& store, const journal::RunHead& head,
                                                 const effects::CancelWanted& wanted, std::int64_t now_ms,
                                                 std::optional<effects::Ended> ended) {
  RunJournal journal(head.run, head.epoch, head.records);
  journal.add({now_ms, wanted});
  journal::RunSummary summary;
  summary.state = ended ? journal::RunState::Cancelled : journal::RunState::Running;
  summary.title = head.summary.title;
  summary.updated_at = now_ms;
  if (ended) journal.add({now_ms, std::move(*ended)});
  const journal::Append append = journal.take(std::move(summary));
  const auto committed = store.commit({&append, 1});
  if (!committed) return failure(store_error(committed.error()));
  if (committed->front()) return failure(RecoveryError{fmt::format("another process continues run {}", head.run.text)});
  return {};
}

Result<void, RecoveryError> cancel_stored(journal::Store& store, const journal::RunName& run, const std::string& reason,
                                          std::int64_t now_ms) {
  const auto head = claim_run(store, run);
  if (!head) return failure(store_error(head.error()));
  effects::Ended ended;
  ended.how = effects::Ended::How::Cancelled;
  ended.failure = {types::FailureKind::Cancelled, reason, "", ""};
  return commit_cancel(store, *head, {reason, true}, now_ms, std::move(ended));
}

Result<bool, RecoveryError> request_stored_cancel(journal::Store& store, const journal::RunName& run,
                                                  const std::string& reason, std::int64_t now_ms,
                                                  const ImageSource& images) {
  const auto head = claim_run(store, run);
  if (!head) return failure(store_error(head.error()));
  auto recovered = recover(store, *head, images, SnapshotUse::Use);
  if (!recovered) return failure(std::move(recovered.error()));
  const bool in_turn = recovered->core && (!recovered->conversation || recovered->conversation->is_in_turn());
  const effects::CancelWanted wanted{reason, true};
  if (recovered->ended || !in_turn || !recovered->core->cancel(wanted)) return false;
  if (auto committed = commit_cancel(store, *head, wanted, now_ms, std::nullopt); !committed) {
    return failure(std::move(committed.error()));
  }
  return true;
}

static RecoveryError damaged_record(const journal::RunName& run, std::uint64_t number, std::string_view what) {
  return {fmt::format("run {}, record {}: {}", run.text, number, what)};
}

/// Feeds the records after number `after` to the run.
static Result<void, RecoveryError> follow_records(journal::RunReader& store, Recovery& recovery,
                                                  RecoveredRun& recovered, std::uint64_t after) {
  const journal::RunName& run = recovered.head.run;
  for (;;) {
    auto records = store.read(run, after, records_per_read);
    if (!records) return failure(store_error(records.error()));
    if (records->empty()) return {};
    for (journal::Record& raw : *records) {
      after = recovered.newest_record = raw.number;
      recovered.bytes_since_snapshot += raw.bytes.size();
      auto record = effects::decode_record(raw.bytes);
      if (!record) return failure(damaged_record(run, raw.number, record.error().message));
      if (recovered.asked && is_question(record->body)) ++*recovered.asked;
      if (recovered.known) recovered.known->follow(raw.number, *record);
      if (auto taken = recovery.take(raw.number, *record, std::move(raw.bytes)); !taken) {
        return failure(replay_error(run, taken.error()));
      }
    }
  }
}

Result<RecoveredRun, RecoveryError> recover(journal::RunReader& store, const journal::RunHead& head,
                                            const ImageSource& images, SnapshotUse use,
                                            const ReplayedGeneration& on_replayed, RecoveryObserver* observer) {
  ENSURE(observer == nullptr || use == SnapshotUse::Ignore);
  const journal::RunName& run = head.run;
  if (head.summary.state == journal::RunState::Forgotten) {
    return failure(RecoveryError{fmt::format("run {} was forgotten: its contents are gone", run.text)});
  }
  std::optional<journal::Snapshot> snapshot;
  if (use == SnapshotUse::Use) {
    auto read = store.snapshot(run);
    if (!read) return failure(store_error(read.error()));
    snapshot = std::move(*read);
  }
  Result<effects::Started, RecoveryError> started;
  if (auto known = snapshot ? find_start(snapshot->bytes) : std::nullopt) {
    started = std::move(*known);
  } else {
    started = read_started(store, run);
  }
  if (!started) return failure(std::move(started.error()));
  auto bundle = store.content(run, started->program);
  if (!bundle) return failure(store_error(bundle.error()));
  auto image = images(started->program, *bundle);
  if (!image) return failure(replay_error(run, {0, image.error().message, image.error().is_of_process}));

  RecoveredRun recovered;
  recovered.head = head;
  recovered.started = std::move(*started);
  recovered.image = std::move(*image);
  Recovery recovery(store, recovered, images, on_replayed, observer);
  std::uint64_t after = 1;
  if (auto begun = recovery.begin(); !begun) return failure(replay_error(run, begun.error()));
  if (snapshot) {
    if (auto read = recovery.read_snapshot(snapshot->bytes); !read) return failure(replay_error(run, read.error()));
    after = snapshot->after;
    recovered.snapshot_bytes = snapshot->bytes.size();
  } else {
    recovered.asked = 0;
  }
  if (recovered.started.known) {
    const auto bytes = store.content(run, *recovered.started.known);
    if (!bytes) return failure(store_error(bytes.error()));
    auto known = KnownOutcomes::decode(*bytes);
    if (!known) return failure(damaged_record(run, 1, known.error()));
    recovered.known = std::make_unique<KnownOutcomes>(std::move(*known));
    if (auto followed = recovered.known->follow(store, run, after); !followed) {
      return failure(store_error(followed.error()));
    }
  }
  if (auto begun = recovery.start_function(); !begun) return failure(replay_error(run, begun.error()));
  if (auto followed = follow_records(store, recovery, recovered, after); !followed) return failure(followed.error());
  return recovered;
}

Result<RecoveredRun, RecoveryError> recover_further(journal::RunReader& store, const journal::RunHead& head,
                                                    RecoveredRun former, std::uint64_t after,
                                                    const ImageSource& images) {
  RecoveredRun recovered = std::move(former);
  recovered.head = head;
  const ReplayedGeneration no_one;
  Recovery recovery(store, recovered, images, no_one, nullptr);
  if (auto followed = follow_records(store, recovery, recovered, after); !followed) return failure(followed.error());
  return recovered;
}

namespace {

void write_recent(const vm::Value& history, wire::Writer& message) {
  const vm::ContextNode* node = vm::context_length(history) > 0 ? &vm::node_of(history) : nullptr;
  std::vector<const vm::ContextNode*> recent;
  std::size_t bytes = 0;
  while (node != nullptr && node->length > 0) {
    bytes += node->entry.as_text().size();
    if (bytes > recent_bytes_max) break;
    recent.push_back(node);
    node = node->parent;
  }
  if (recent.empty()) return;
  if (node != nullptr && node->length > 0) message.present_field(conversation_older, node->hash->view());
  for (auto entry = recent.rbegin(); entry != recent.rend(); ++entry) {
    message.present_field(conversation_recent, write_entry((*entry)->role, (*entry)->entry.as_text()));
  }
}

}  // namespace

std::string write_snapshot(const Conversation* conversation, const RunCore* core) {
  wire::Writer out;
  if (conversation != nullptr) {
    wire::Writer message;
    message.field(conversation_turns, conversation->turns());
    const std::optional<Hash>& pieces = conversation->state_pieces();
    if (!pieces) message.field(conversation_state, conversation->state());
    if (vm::context_length(conversation->history()) > 0) {
      message.present_field(conversation_history, vm::context_hash(conversation->history()).view());
    }
    for (const Conversation::Message& said : conversation->turn_messages()) {
      wire::Writer entry = write_entry(static_cast<std::uint8_t>(said.role), said.text);
      write_sources(entry, 3, said.sources);
      message.present_field(conversation_turn_messages, entry);
    }
    message.field(conversation_agent, conversation->declaration().name);
    write_recent(conversation->history(), message);
    message.field(conversation_agent_before, conversation->agent_before().name);
    for (const auto& [name, state] : conversation->kept_states()) {
      wire::Writer entry;
      entry.field(1, name);
      entry.field(2, state);
      message.present_field(conversation_kept_state, entry);
    }
    if (const Hash* const program = conversation->taken_program()) {
      message.present_field(conversation_program, program->view());
    }
    if (pieces) message.present_field(conversation_state_pieces, pieces->view());
    message.present_field(conversation_labels, write_labels(conversation->labels()));
    out.present_field(snapshot_conversation, message);
  }
  if (core != nullptr) out.present_field(snapshot_core, core->write_snapshot());
  return out.take();
}

}  // namespace tenon::runtime
