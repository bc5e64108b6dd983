#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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

/// A call site of the program where a model is asked, and the tools that its sets contain now.
struct CompletionSite {
  /// `at` is an index into Program::sites. Implicit, as most sites have no sets.
  CompletionSite(std::uint32_t at, std::vector<bytecode::ToolIndices> tools = {}) : site(at), sets(std::move(tools)) {}

  std::uint32_t site = 0;
  std::vector<bytecode::ToolIndices> sets;  ///< one for each clause that is a set
  friend auto operator<=>(const CompletionSite&, const CompletionSite&) = default;
};

/// Entries of a context that follow one another with the same role.
struct ContextPart {
  bytecode::EntryRole role = bytecode::EntryRole::Data;
  std::string_view text;                  ///< the entries, joined by newlines
  std::vector<std::uint32_t> entry_ends;  ///< as in Message
  std::vector<bool> has_data;  ///< by entry: whether data from outside of the program is in it; empty: in none
};

/// The role of the message in which entries of that role are sent.
[[nodiscard]] Role role_of(bytecode::EntryRole role);

/// Makes the request that is sent for each call site of a program. What does not depend on the context (schema, prompt
/// templates) is made once for a site, on first use; a request then costs little more than a copy of the context's
/// text. For a site with sets of tools it is made once for each contents of the sets. Thread-safe.
class SitePrompts {
 public:
  /// `program` outlives this.
  SitePrompts(const bytecode::Program& program, PromptTemplates templates);

  [[nodiscard]] std::shared_ptr<const answers::AnswerShape> shape(const CompletionSite& where) const;

  /// The messages for one generation, in this order: each part of the context, its text unchanged (a part of
  /// requirements or refusals is rendered by its template); the template `empty`, if the context has no entries; the
  /// clauses of a select, in the last message if that is the user's and part of the context; the note on the answer.
  [[nodiscard]] GenerationRequest make_request(const CompletionSite& where, std::span<const ContextPart> parts,
                                               const Sampling& sampling) const;
  /// The same for a context that consists of one part of program text and data.
  [[nodiscard]] GenerationRequest make_request(const CompletionSite& where, std::string_view context,
                                               std::span<const std::uint32_t> entry_ends,
                                               const Sampling& sampling) const;

  /// Identifies all that is sent at a site besides the context's entries: prompt templates and schema.
  [[nodiscard]] Hash fixed_hash(const CompletionSite& where) const { return get(where)->fixed_hash; }

  /// Whether entries with data are marked in what is sent; then a request depends on ContextPart::has_data.
  [[nodiscard]] bool marks_data() const { return marks_data_; }

  /// The reply to an answer that cannot be used.
  [[nodiscard]] std::string make_repair_note(const CompletionSite& where, std::span<const std::string> problems) const;

  [[nodiscard]] const bytecode::Program& program() const { return program_; }
  [[nodiscard]] const PromptTemplates& templates() const { return templates_; }

 private:
  struct Prepared {
    answers::AnswerShape shape;
    std::string label;
    std::string clauses;    ///< Select: what follows the context
    std::string arguments;  ///< Fill and Select: not empty; the names of the missing arguments of a Fill
    std::string empty;      ///< Completion: what replaces an empty context
    std::string note;       ///< a separate message; may be empty
    /// Where the note describes the form; the message is set for each request.
    std::optional<FormNote> form;
    Hash fixed_hash;
  };
  struct Slot {
    std::once_flag once;
    Prepared prepared;
  };

  [[nodiscard]] std::shared_ptr<const Prepared> get(const CompletionSite& where) const;
  [[nodiscard]] Prepared prepare(const bytecode::Site& site) const;
  [[nodiscard]] Hash make_fixed_hash(const Prepared& prepared) const;
  void prepare_completion(const bytecode::Site& site, Prepared& prepared) const;
  void prepare_fill(const bytecode::Site& site, Prepared& prepared) const;
  void prepare_select(const bytecode::Site& site, Prepared& prepared) const;
  /// The note of `prepared` describes the form from the byte `begin` on.
  void mark_form(Prepared& prepared, std::size_t begin) const;
  [[nodiscard]] Message make_message(const ContextPart& part) const;
  [[nodiscard]] std::string render_requirements(const Prepared& prepared, const ContextPart& part) const;
  [[nodiscard]] std::string render_refusal(const Prepared& prepared, const ContextPart& part, bool has_answer) const;

  const bytecode::Program& program_;
  PromptTemplates templates_;
  bool marks_data_ = false;
  mutable std::deque<Slot> slots_;  ///< by site
  mutable std::mutex sets_mutex_;
  /// Those of sites with sets of tools; all are dropped when there are too many.
  mutable std::map<CompletionSite, std::shared_ptr<const Prepared>> with_sets_;
};

/// A function's signature as a model reads it, without its Context parameters: `add(x: i32, y: i32) -> i32`.
[[nodiscard]] std::string make_signature(const types::TypeTable& types, const bytecode::Function& function);

}  // namespace tenon::inference::prompting
