#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "bytecode/program.h"
#include "bytecode/tool_sets.h"
#include "inference/answers/answer_shape.h"
#include "inference/model.h"
#include "inference/prompting/prompt_templates.h"

namespace tenon::inference::prompting {

/// What a model is asked: a place of the program, and what its sets of tools hold now.
struct CompletionSite {
  /// `at` is an index into Program::sites. Implicit, as most places have no sets.
  CompletionSite(std::uint32_t at, std::vector<bytecode::ToolIndices> tools = {}) : site(at), sets(std::move(tools)) {}

  std::uint32_t site = 0;
  std::vector<bytecode::ToolIndices> sets;  ///< for each clause that stands for a set
  friend auto operator<=>(const CompletionSite&, const CompletionSite&) = default;
};

/// What is sent for each place of a program where a model is asked. What does not depend on the context (schemas,
/// wordings) is made once for a place, when it is first asked for; a request then costs little more than copying the
/// context's text. For a place with sets of tools it is made once for all that the sets have held lately. Any thread
/// may use it, several at once.
class SitePrompts {
 public:
  /// `program` outlives this.
  SitePrompts(const bytecode::Program& program, PromptTemplates templates);

  [[nodiscard]] std::shared_ptr<const answers::AnswerShape> shape(const CompletionSite& where) const;

  /// The messages for one generation. The context is one user message whose text is exactly `context`; a select adds a
  /// blank line and its clauses to it; all else that is said travels in messages of its own behind it. Without entries
  /// there is no such message, and the wording `empty` names the function instead. `entry_ends` as in Message.
  [[nodiscard]] GenerationRequest make_request(const CompletionSite& where, std::string_view context,
                                               std::span<const std::uint32_t> entry_ends,
                                               const Sampling& sampling) const;

  /// A part of a context that goes out as a message of its own.
  struct Part {
    Role role = Role::User;
    std::string_view text;
    std::vector<std::uint32_t> entry_ends;  ///< as in Message
  };
  /// The same for a context in which somebody else than the program has a say: a conversation. A select's clauses stand
  /// behind the last part when that is the user's, else in a message of their own.
  [[nodiscard]] GenerationRequest make_request(const CompletionSite& where, std::span<const Part> parts,
                                               const Sampling& sampling) const;

  /// Of all that is sent at a site whatever the context: wordings and schema.
  [[nodiscard]] Hash fixed_hash(const CompletionSite& where) const { return get(where)->fixed_hash; }

  /// What is said to an answer that cannot be used.
  [[nodiscard]] std::string make_repair_note(const CompletionSite& where, std::span<const std::string> problems) const;

  [[nodiscard]] const bytecode::Program& program() const { return program_; }
  [[nodiscard]] const PromptTemplates& templates() const { return templates_; }

 private:
  struct Prepared {
    answers::AnswerShape shape;
    std::string label;
    std::string clauses;   ///< Select: what follows the context
    std::string empty;     ///< Completion: what stands for an empty context
    std::string note;      ///< a message of its own; may be empty
    bool is_form = false;  ///< the note says what the schema's keys and types say, and nothing else
    Hash fixed_hash;
  };
  struct Slot {
    std::once_flag once;
    Prepared prepared;
  };

  [[nodiscard]] std::shared_ptr<const Prepared> get(const CompletionSite& where) const;
  [[nodiscard]] Prepared prepare(const bytecode::Site& site) const;
  static void add_note(const Prepared& prepared, GenerationRequest& request);
  void prepare_completion(const bytecode::Site& site, Prepared& prepared) const;
  void prepare_fill(const bytecode::Site& site, Prepared& prepared) const;
  void prepare_select(const bytecode::Site& site, Prepared& prepared) const;

  const bytecode::Program& program_;
  PromptTemplates templates_;
  mutable std::deque<Slot> slots_;  ///< by site
  mutable std::mutex sets_mutex_;
  /// Of places with sets of tools; all are dropped when they are many.
  mutable std::map<CompletionSite, std::shared_ptr<const Prepared>> with_sets_;
};

/// A function's signature as a model reads it, without its Context parameters: `add(x: i32, y: i32) -> i32`.
[[nodiscard]] std::string make_signature(const types::TypeTable& types, const bytecode::Function& function);

}  // namespace tenon::inference::prompting
