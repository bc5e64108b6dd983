#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "diagnostics/diagnostic.h"
#include "types/checked_program.h"

namespace tenon::types {

/// `Strict`: an undeclared type is an error instead of a text type.
enum class Strictness : bool { Relaxed, Strict };

struct CheckedBodies;

/// The entry file and everything that it imports: parsed, named and typed. Accepts any input; errors are `diagnostics`.
struct Checked {
  CheckedProgram program;
  diagnostics::Diagnostics diagnostics;
  std::shared_ptr<const CheckedBodies> bodies;  ///< only with CheckOptions::keeps_bodies
  std::vector<FunctionId> checked_bodies;       ///< the functions whose bodies were not reused, in order

  /// The files in the order of their FileIds, for rendering diagnostics.
  [[nodiscard]] std::vector<const source::SourceFile*> files() const;
};

/// What a project says of trust for all its programs.
struct TrustPolicy {
  bool trusts_person = false;  ///< as if each said `trust person`
  bool allows_endorse = true;
  friend bool operator==(const TrustPolicy&, const TrustPolicy&) = default;
};

struct CheckOptions {
  Strictness strictness = Strictness::Relaxed;
  TrustPolicy trust = {};
  /// The result can be the `previous` one of a later check.
  bool keeps_bodies = false;
  /// The result of an earlier check of the same entry file: bodies that did not change, and use nothing that did, are
  /// not checked again. The result is the same as without it. Must have kept its bodies, with the same `trust`.
  const Checked* previous = nullptr;
};

/// Reports that the entry file of a program cannot be read.
void report_unreadable(const std::string& path, const FileError& error, diagnostics::Diagnostics& diagnostics);

[[nodiscard]] Checked check(const std::string& path, FileSystem& files, const CheckOptions& options);
[[nodiscard]] Checked check(const std::string& path, FileSystem& files, Strictness strictness);

}  // namespace tenon::types
