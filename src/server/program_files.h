#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "completion/completion.h"
#include "engine/program.h"
#include "engine/shown_prompts.h"
#include "json/json.h"

namespace tenon::server {

/// The files of the served programs. Used by the server's thread only.
struct ProgramFiles {
  struct File {
    std::string name;  ///< without folder and extension
    std::string path;
  };
  std::vector<File> files;
  /// Returns the text, or why it cannot be read.
  std::function<Result<std::string, std::string>(const std::string& path)> read;
  /// Whether the file was written; otherwise it has its old text.
  std::function<bool(const std::string& path, std::string_view text)> write;
  /// Why the text does not compile; nothing when it does.
  std::function<std::optional<std::string>(const std::string& path, std::string_view text)> check;
  /// Errors, warnings and notes, each as an object of `tenon check --json`.
  std::function<Json(const std::string& path, std::string_view text)> diagnose;
  /// completion::complete.
  std::function<completion::Completions(const std::string& path, std::string_view text, std::size_t offset)> complete;
  /// completion::find_meaning.
  std::function<std::optional<completion::Meaning>(const std::string& path, std::string_view text, std::size_t offset)>
      explain;
  /// What would be sent to models; the problems of a program with errors.
  std::function<Result<engine::ShownPrompts, engine::EngineError>(const std::string& path, std::string_view text)>
      prompts;
  /// engine::find_plans.
  std::function<std::optional<Json>(const std::string& path, std::string_view text)> plans;
  /// The program in the file, for new runs; why not.
  std::function<Result<engine::Program, engine::EngineError>(const std::string& path)> load;

  /// Null if there is none.
  [[nodiscard]] const File* find(std::string_view name) const;
};

class Catalog;

/// Loads a program's file for new runs. False if its text has errors: then the catalog has the program as before.
[[nodiscard]] bool reload(const ProgramFiles& programs, const ProgramFiles::File& file, Catalog& catalog);

/// Programs whose files have changed, by index. Any thread.
class ChangedPrograms {
 public:
  void add(std::size_t file);
  /// Those since the last call.
  [[nodiscard]] std::set<std::size_t> take();

 private:
  std::atomic<bool> has_some_{false};  ///< so that a request without changes before it takes no lock
  std::mutex mutex_;
  std::set<std::size_t> files_;
};

/// A message about a program with the names of its files relative to its folder, which clients do not learn.
[[nodiscard]] std::string without_folder(std::string message, const std::string& path);

}  // namespace tenon::server
