#include "engine/test_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/counted.h"
#include "engine/script_player.h"
#include "runtime/recording/run_journal.h"
#include "runtime/run_core.h"
#include "runtime/runtime.h"
#include "vm/snapshot/snapshot.h"

namespace tenon::engine {
namespace {

using runtime::OpenRequest;
using runtime::RunCore;

/// A run with more records is not replayed from the first one after each record, because that takes quadratic time.
constexpr std::size_t records_replayed_each_time_max = 100;

class JournalledTest {
 public:
  JournalledTest(const std::shared_ptr<const vm::LoadedProgram>& program, std::uint32_t function)
      : image_(std::make_shared<const runtime::ProgramImage>(program, inference::prompting::PromptTemplates::builtin(),
                                                             nullptr)),
        function_(function) {}

  std::optional<std::string> run(const TestAnswerer& answer) {
    begin();
    for (;;) {
      if (core_->end()) return describe_end();
      record_requests();
      if (auto problem = crash()) return problem;
      const OpenRequest* const open = oldest_request();
      if (open == nullptr) return "the test neither ends nor waits";
      auto outcome = answer(open->request);
      if (!outcome) return describe_unanswered(core_->machine(), open->request.id, outcome.error());
      if (auto problem = record_outcome(*open, std::move(*outcome))) return problem;
      if (auto problem = crash()) return problem;
    }
  }

 private:
  RunCore make_core() const {
    RunCore core(image_, function_, {}, {}, RunCore::Recording::On);
    run_until_quiescent(core);
    return core;
  }
  static void run_until_quiescent(RunCore& core) {
    while (!core.advance(UINT64_MAX).is_quiescent) {
    }
  }

  void begin() {
    core_.emplace(make_core());
    refusals_ = core_->take_refusals();
    take_snapshot();
  }

  void take_snapshot() {
    snapshot_ = core_->end() ? std::string() : core_->write_snapshot();
    records_in_snapshot_ = records_.size();
  }

  /// And what was refused before.
  void record_requests() {
    for (effects::FlowRefused& refused : std::exchange(refusals_, {})) {
      records_.push_back(effects::encode({0, std::move(refused)}));
    }
    std::vector<std::pair<std::uint64_t, std::string>> unrecorded;
    for (const auto& [key, open] : core_->open()) {
      if (!open.is_recorded) unrecorded.emplace_back(open.request.id.number, key);
    }
    std::sort(unrecorded.begin(), unrecorded.end());
    for (const auto& [number, key] : unrecorded) {
      const OpenRequest& open = core_->open().at(key);
      effects::Requested requested;
      requested.key = key;
      requested.kind = open.described.kind;
      requested.subject = open.described.subject;
      requested.request = open.described.identity;
      requested.context = open.described.context;
      requested.arguments = keep(open.described.arguments);
      requested.place = core_->place_of(open.request);
      records_.push_back(effects::encode({0, std::move(requested)}));
    }
  }

  std::optional<std::string> record_outcome(const OpenRequest& open, vm::Outcome outcome) {
    auto form = effects::write_outcome(outcome, open.request, image_->program());
    if (!form) return "an answer cannot be recorded: " + form.error().message;
    effects::Finished finished;
    finished.key = open.request.key;
    effects::record_outcome(std::move(*form), finished, [&](std::string text) { return keep(std::move(text)); });
    finished.cost = effects::cost_of(outcome.usage);
    records_.push_back(effects::encode({0, std::move(finished)}));
    return std::nullopt;
  }

  effects::StoredText keep(std::string text) {
    if (text.size() <= effects::inline_text_bytes_max) return {std::move(text), std::nullopt};
    const Hash hash = sha256(text);
    contents_.emplace(hash, std::move(text));
    return {{}, hash};
  }

  /// Discards the machine and continues from the records.
  std::optional<std::string> crash() {
    auto restored = snapshot_.empty() ? Result<RunCore, runtime::ReplayError>(make_core())
                                      : RunCore::read_snapshot(image_, snapshot_, "");
    if (!restored) return "the snapshot cannot be read: " + restored.error().message;
    if (auto problem = feed(*restored, records_in_snapshot_)) return problem;
    refusals_ = restored->take_refusals();
    if (records_.size() <= records_replayed_each_time_max || restored->end()) {
      RunCore replayed = make_core();
      if (auto problem = feed(replayed, 0)) return problem;
      if (vm::encode(replayed.machine()) != vm::encode(restored->machine())) {
        return fmt::format("after {}, replaying from the first record and from a snapshot leads to different states",
                           counted(records_.size(), "record"));
      }
      if (replayed.take_refusals() != refusals_) {
        return fmt::format(
            "after {} records, replaying from the first record leaves other refusals to be recorded than replaying "
            "from a snapshot",
            records_.size());
      }
    }
    core_.emplace(std::move(*restored));
    take_snapshot();
    return std::nullopt;
  }

  std::optional<std::string> feed(RunCore& core, std::size_t from) const {
    for (std::size_t at = from; at < records_.size(); ++at) {
      const auto record = effects::decode_record(records_[at]);
      if (!record) return fmt::format("record {} cannot be read: {}", at + 1, record.error().message);
      const auto* const finished = std::get_if<effects::Finished>(&record->body);
      const auto taken = finished == nullptr ? core.take(at + 1, *record, records_[at])
                                             : core.take(at + 1, *finished, text_of(finished->value));
      if (!taken) return fmt::format("record {}: {}", at + 1, taken.error().message);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string text_of(const effects::StoredText& text) const {
    return text.hash ? contents_.at(*text.hash) : text.text;
  }

  [[nodiscard]] const OpenRequest* oldest_request() const {
    const OpenRequest* oldest = nullptr;
    for (const auto& [key, open] : core_->open()) {
      if (oldest == nullptr || open.request.id < oldest->request.id) oldest = &open;
    }
    return oldest;
  }

  [[nodiscard]] std::optional<std::string> describe_end() const {
    const vm::Step& end = *core_->end();
    if (const auto* failed = std::get_if<vm::Failed>(&end)) {
      return runtime::describe_failure(*image_->loaded(), failed->report);
    }
    if (const auto* damaged = std::get_if<vm::Damaged>(&end)) return damaged->place + ": " + damaged->message;
    return std::nullopt;
  }

  std::shared_ptr<const runtime::ProgramImage> image_;
  std::uint32_t function_;
  std::optional<RunCore> core_;
  std::vector<std::string> records_;
  std::map<Hash, std::string> contents_;
  std::vector<effects::FlowRefused> refusals_;  ///< not recorded
  std::string snapshot_;                        ///< empty: none
  std::size_t records_in_snapshot_ = 0;
};

}  // namespace

std::optional<std::string> run_test_through_journal(const std::shared_ptr<const vm::LoadedProgram>& program,
                                                    std::uint32_t function, const TestAnswerer& answer) {
  return JournalledTest(program, function).run(answer);
}

}  // namespace tenon::engine
