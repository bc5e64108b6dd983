#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "base/sha256.h"
#include "inference/answers/value_reader.h"
#include "inference/prompting/site_prompts.h"
#include "tools/native/extern_table.h"
#include "vm/loaded_program.h"

namespace tenon::runtime {

/// A program with everything that its runs share: its code, its prompt templates, its externs. Can be used by several
/// threads at once.
class ProgramImage {
 public:
  /// `externs`: bound ones of the program, or null; then native functions cannot be called.
  ProgramImage(std::shared_ptr<const vm::LoadedProgram> program, inference::prompting::PromptTemplates templates,
               std::shared_ptr<const tools::ExternTable> externs);

  [[nodiscard]] const std::shared_ptr<const vm::LoadedProgram>& loaded() const { return loaded_; }
  [[nodiscard]] const bytecode::Program& program() const { return loaded_->program(); }
  [[nodiscard]] const inference::prompting::SitePrompts& prompts() const { return prompts_; }
  [[nodiscard]] const inference::answers::ValueReader& reader() const { return reader_; }
  [[nodiscard]] const std::shared_ptr<const tools::ExternTable>& externs() const { return externs_; }

  /// Whether its values may contain secrets.
  [[nodiscard]] bool has_secrets() const { return has_secrets_; }

  /// Its form in a store (effects/program_bundle.h), and the hash of that; made by the first call.
  [[nodiscard]] const std::string& bundle() const;
  [[nodiscard]] const Hash& hash() const;

 private:
  void make_bundle() const;

  std::shared_ptr<const vm::LoadedProgram> loaded_;
  inference::prompting::SitePrompts prompts_;
  inference::answers::ValueReader reader_;
  std::shared_ptr<const tools::ExternTable> externs_;
  bool has_secrets_ = false;
  mutable std::once_flag bundle_once_;
  mutable std::string bundle_;
  mutable Hash hash_;
};

struct ImageError {
  std::string message;
  bool is_of_process = false;  ///< this process lacks something that another one may have, such as a library
};

/// The program and the prompt templates of a bundle: an image without its externs.
struct UnbundledProgram {
  std::shared_ptr<const vm::LoadedProgram> loaded;
  inference::prompting::PromptTemplates templates;
};
[[nodiscard]] Result<UnbundledProgram, ImageError> read_bundle(std::string_view bytes);

/// The function of that name: one of the entry file before those of other modules.
[[nodiscard]] std::optional<std::uint32_t> find_function(const bytecode::Program& program, std::string_view name);

}  // namespace tenon::runtime
