#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/program.h"
#include "engine/program.h"
#include "inference/model.h"
#include "inference/prompting/prompt_templates.h"

namespace tenon::engine {

/// What would be sent at a call site where a model is asked. Data are known only in a run, and appear as `{{ name }}`.
struct ShownPrompt {
  std::string file;
  std::uint32_t line = 0, column = 0;
  std::string_view kind;  ///< `completion of`, `missing arguments in`, `select in`
  std::string function;
  std::string note;  ///< what depends on the run: a line, or empty
  std::vector<inference::Message> messages;
  bool has_answer_form = true;  ///< not if its tools are known only in a run
  std::string schema;           ///< of the answer; empty for plain text
  std::size_t other_forms = 0;  ///< of the answer, which depend on the run

  /// `FILE:3:5: completion of `f`` and a line end.
  [[nodiscard]] std::string heading() const;
  /// What is sent and the form of the answer, each with its role in brackets.
  [[nodiscard]] std::string text() const;
};

struct ShownPrompts {
  std::vector<ShownPrompt> prompts;
  std::vector<std::string> tools;  ///< those that a model may be offered, each with its schema: parts of the choices
};

[[nodiscard]] ShownPrompts show_prompts(const bytecode::Program& program,
                                        inference::prompting::PromptTemplates templates);

/// Those of a source, with the templates of the settings and the manifest. Fails with `Program` if it has errors.
[[nodiscard]] Result<ShownPrompts, EngineError> find_prompts(const ProgramSource& source, Settings settings,
                                                             const System& system);

}  // namespace tenon::engine
