#include "types/check.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "diagnostics/kinds.h"
#include "source/source_file.h"
#include "types/check/bodies/merge_bodies.h"
#include "types/check/bodies/reuse_bodies.h"
#include "types/check/body_checker.h"
#include "types/check/rules/consequences.h"
#include "types/declarations/declarations.h"
#include "types/declarations/load_modules.h"
#include "types/declarations/program_index.h"
#include "types/plan/plan.h"

namespace tenon::types {

std::vector<const source::SourceFile*> Checked::files() const {
  std::vector<const source::SourceFile*> all;
  for (const Module& module : program.modules) all.push_back(module.file.get());
  return all;
}

namespace {

void check_bodies(Checked& checked, const CheckOptions& options) {
  const ProgramIndex index(checked.program, options.strictness);
  const bool can_reuse = options.previous != nullptr && options.previous->bodies != nullptr;
  std::optional<BodyKeys> keys;
  if (options.keeps_bodies || can_reuse) keys.emplace(index);
  std::optional<BodyReuse> reuse;
  if (can_reuse) reuse.emplace(options.previous->program, *options.previous->bodies, index);
  const auto bodies = std::make_shared<CheckedBodies>();
  bodies->declared = index.types();
  BodyMerger merger(checked.program, checked.diagnostics);
  for (std::uint32_t id = 0; id < checked.program.functions.size(); ++id) {
    const FunctionId function{id};
    const BodyKey key = keys ? keys->key_of(function) : BodyKey{};
    std::optional<BodyResult> result;
    if (reuse) result = reuse->find(function, key);
    if (!result) {
      result = check_body(index, function, checked.diagnostics.room() - checked.diagnostics.all().size());
      if (root_of_body(checked.program, checked.program.functions[id]).exists()) {
        checked.checked_bodies.push_back(function);
      }
    }
    MergedBody merged = merger.add(function, std::move(*result));
    if (options.keeps_bodies) bodies->entries.push_back({key, std::move(merged)});
  }
  merger.finish();
  if (options.keeps_bodies) checked.bodies = bodies;
}

}  // namespace

void report_unreadable(const std::string& path, const FileError& error, diagnostics::Diagnostics& diagnostics) {
  if (error.bytes > 0) {
    diagnostics.report(diagnostics::SourceTooLarge, {}, path, error.bytes, source::source_bytes_max);
  } else {
    diagnostics.report(diagnostics::UnreadableFile, {}, path, error.message);
  }
}

Checked check(const std::string& path, FileSystem& files, Strictness strictness) {
  return check(path, files, CheckOptions{.strictness = strictness});
}

Checked check(const std::string& path, FileSystem& files, const CheckOptions& options) {
  Checked checked;
  checked.program.trusts_person = options.trust.trusts_person;
  checked.program.allows_endorse = options.trust.allows_endorse;
  load_modules(path, files, checked.program, checked.diagnostics);
  // A program that has not been read to its end cannot be checked.
  const auto is_cut = [](const diagnostics::Diagnostic& diagnostic) {
    return diagnostic.code == diagnostics::NestedTooDeeply.code;
  };
  if (std::any_of(checked.diagnostics.all().begin(), checked.diagnostics.all().end(), is_cut)) return checked;
  Declarations(checked.program, checked.diagnostics, options.strictness).run();
  check_bodies(checked, options);
  drop_consequences(checked.program, checked.diagnostics);
  if (!checked.diagnostics.has_errors()) warn_of_plans(checked.program, checked.diagnostics);
  checked.diagnostics.sort();
  return checked;
}

}  // namespace tenon::types
