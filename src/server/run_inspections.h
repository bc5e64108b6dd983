#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/fork.h"
#include "journal/store.h"
#include "json/json.h"
#include "server/api_call.h"
#include "server/http_message.h"
#include "server/inspector.h"
#include "server/program_files.h"
#include "vm/loaded_program.h"

namespace tenon::server {

struct ApiParts;
class RunPrograms;

/// The routes that replay recorded runs: what they show is part of the program, which only those learn who may edit it.
/// Used by the server's thread.
class RunInspections final {
 public:
  RunInspections(ApiParts& parts, RunPrograms& programs) : parts_(parts), programs_(programs) {}

  void show_record(const ApiCall& call);
  void show_program(const ApiCall& call);
  void replay(const ApiCall& call);
  void compare(const ApiCall& call);
  /// What a fork would do; or starts it, in the changed program, if that can continue the run. `text`: of that program;
  /// nothing: the run's own.
  struct ForkRequest {
    engine::ForkChoice choice;
    std::optional<std::string> text;
    bool is_dry_run = false;
  };
  /// `start`: answers in place of this, on any thread.
  void fork(const ApiCall& call, ForkRequest request, const std::function<void(engine::ForkChoice)>& start);

 private:
  [[nodiscard]] std::optional<journal::RunHead> find_shown_run(const ApiCall& call) const;
  [[nodiscard]] std::optional<journal::RunHead> find_run(const ApiCall& call) const;
  [[nodiscard]] const ProgramFiles::File* find_file(const vm::LoadedProgram& program) const;
  /// The changed program; null if it has errors, and without a text.
  struct Changed {
    std::shared_ptr<const vm::LoadedProgram> program;
    Json problems = Json::array();
    bool has_errors = false;
  };
  /// Nothing after a refusal was answered.
  [[nodiscard]] std::optional<Changed> compile(const ApiCall& call, const journal::RunName& run,
                                               const std::optional<std::string>& text);

  ApiParts& parts_;
  RunPrograms& programs_;
};

}  // namespace tenon::server
