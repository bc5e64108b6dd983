#include "server/run_programs.h"

#include "effects/record.h"
#include "runtime/program_image.h"
#include "runtime/recovery/recovery.h"

namespace tenon::server {
namespace {

/// Further ones are read again.
constexpr std::size_t older_programs_max = 16;
/// The records of further ones are read again.
constexpr std::size_t runs_max = 4'096;
/// Of a run at once.
constexpr std::size_t records_per_read = 4'096;

/// Whether it is the run that lacks something, or has it damaged, and not the store that cannot be read.
bool is_lasting(std::optional<journal::StoreError::Kind> kind) {
  using enum journal::StoreError::Kind;
  return !kind || *kind == Missing || *kind == Damaged;
}

}  // namespace

std::shared_ptr<const vm::LoadedProgram> RunPrograms::find_served(const Hash& hash) const {
  for (const auto& [name, entry] : catalog_.entries()) {
    if (entry.image->hash() == hash) return entry.image->loaded();
  }
  return nullptr;
}

Result<std::optional<Hash>, journal::StoreError> RunPrograms::hash_at(journal::Store& store,
                                                                      const journal::RunName& run,
                                                                      std::uint64_t record) {
  auto found = runs_.find(run.text);
  if (found == runs_.end()) {
    const auto started = runtime::read_started(store, run);
    if (!started && is_lasting(started.error().store)) return std::optional<Hash>();
    if (!started) return failure(journal::StoreError{*started.error().store, started.error().message});
    if (runs_.size() >= runs_max) runs_.clear();
    found = runs_.emplace(run.text, Programs{{{1, started->program}}, !started->agent.empty(), 1}).first;
  }
  Programs& programs = found->second;
  while (programs.may_change && programs.read_until < record) {
    const auto records = store.read(run, programs.read_until, records_per_read);
    if (!records) return failure(records.error());
    if (records->empty()) break;
    for (const journal::Record& raw : *records) {
      programs.read_until = raw.number;
      const auto decoded = effects::decode_record(raw.bytes);
      const auto* const taken = decoded ? std::get_if<effects::ProgramTaken>(&decoded->body) : nullptr;
      if (taken != nullptr) programs.begins.emplace_back(raw.number, taken->program);
    }
  }
  Hash hash = programs.begins.front().second;
  for (const auto& [begin, program] : programs.begins) {
    if (begin <= record) hash = program;
  }
  return std::optional(hash);
}

std::shared_ptr<const vm::LoadedProgram> RunPrograms::find(journal::Store& store, const journal::RunName& run) {
  auto found = find_at(store, run, UINT64_MAX);
  return found ? std::move(*found) : nullptr;
}

Result<std::shared_ptr<const vm::LoadedProgram>, journal::StoreError> RunPrograms::find_at(journal::Store& store,
                                                                                           const journal::RunName& run,
                                                                                           std::uint64_t record) {
  const auto hash = hash_at(store, run, record);
  if (!hash) return failure(hash.error());
  if (!*hash) return std::shared_ptr<const vm::LoadedProgram>();
  if (auto served = find_served(**hash)) return served;
  if (const auto known = older_.find(**hash); known != older_.end()) return known->second;
  const auto bundle = store.content(run, **hash);
  if (!bundle && is_lasting(bundle.error().kind)) return std::shared_ptr<const vm::LoadedProgram>();
  if (!bundle) return failure(bundle.error());
  auto program = runtime::read_bundle(*bundle);
  if (older_.size() >= older_programs_max) older_.clear();
  return older_[**hash] = program ? std::move(program->loaded) : nullptr;
}

}  // namespace tenon::server
