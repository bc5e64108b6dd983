#include "server/run_programs.h"

#include "runtime/program_image.h"
#include "runtime/recovery/recovery.h"

namespace tenon::server {
namespace {

/// Further ones are read again.
constexpr std::size_t older_programs_max = 16;

}  // namespace

std::shared_ptr<const vm::LoadedProgram> RunPrograms::find_served(const Hash& hash) const {
  for (const auto& [name, entry] : catalog_.entries()) {
    if (entry.image->hash() == hash) return entry.image->loaded();
  }
  return nullptr;
}

std::shared_ptr<const vm::LoadedProgram> RunPrograms::find(journal::Store& store, const journal::RunName& run) {
  const auto started = runtime::read_started(store, run);
  if (!started) return nullptr;
  if (auto served = find_served(started->program)) return served;
  // The conversation may have been upgraded to another program; that takes reading all records.
  const auto newest = runtime::read_program(store, run);
  if (!newest) return nullptr;
  if (auto served = find_served(newest->program)) return served;
  if (const auto known = older_.find(newest->program); known != older_.end()) return known->second;
  const auto bundle = store.content(run, newest->program);
  const auto program = bundle ? runtime::read_bundle(*bundle) : failure(runtime::ImageError{});
  if (!program) return nullptr;
  if (older_.size() >= older_programs_max) older_.clear();
  return older_[newest->program] = program->loaded;
}

}  // namespace tenon::server
