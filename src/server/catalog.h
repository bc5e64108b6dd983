#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/answers/json.h"
#include "runtime/host.h"

namespace tenon::server {

/// What can be started: an agent or a function of one of the served programs.
struct CatalogEntry {
  std::string name;  ///< the function's, or `FILE.name` where several files have it
  std::shared_ptr<const runtime::ProgramImage> image;
  std::uint32_t function = 0;          ///< of an agent: its turn, (Context, input) -> value
  std::optional<std::uint32_t> agent;  ///< an index into Program::agents
  runtime::RunOptions options;

  /// Without what is said or given.
  [[nodiscard]] runtime::RunStart make_start() const { return {image, function, agent, {}, {}, options}; }
  /// Of one that takes a text.
  [[nodiscard]] runtime::RunStart make_start(const std::string& text) const;
  [[nodiscard]] const bytecode::Function& declared() const { return image->program().functions[function]; }
  /// As its program and its runs have it.
  [[nodiscard]] const std::string& declared_name() const {
    return agent ? image->program().agents[*agent].name : declared().name;
  }
  /// The parameters that are given: all but Contexts, which are new and empty.
  [[nodiscard]] std::vector<std::size_t> given_parameters() const;
  /// Whether it takes one text and nothing else, so that people can talk to it.
  [[nodiscard]] bool takes_a_text() const;
  /// Of an object with a member for each parameter; a message that names all that is wrong. Call it on the thread to
  /// which the values belong.
  [[nodiscard]] Result<std::vector<vm::Argument>, std::string> read_arguments(
      const inference::answers::Json& arguments) const;
  /// The arguments of one that takes a text.
  [[nodiscard]] Result<std::vector<vm::Argument>, std::string> read_text(const std::string& text) const;
  /// {"name","kind": "agent" or "function","description","input": JSON Schema of the arguments,"output": JSON Schema of
  /// the value,"takes_text"}
  [[nodiscard]] inference::answers::Json describe() const;
};

/// All that a server serves.
class Catalog {
 public:
  /// `file`: the program's name without folder and ending; used where names stand in several programs.
  void add_program(const std::string& file, std::shared_ptr<const runtime::ProgramImage> image,
                   const runtime::RunOptions& options);
  [[nodiscard]] const CatalogEntry* find(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, CatalogEntry, std::less<>>& entries() const { return entries_; }
  /// The entry whose name is nearest; empty when none is near.
  [[nodiscard]] std::string nearest(std::string_view name) const;

 private:
  void add(const std::string& file, CatalogEntry entry);

  std::map<std::string, CatalogEntry, std::less<>> entries_;
  std::map<std::string, std::string, std::less<>> files_;  ///< of the entries with a plain name
  std::vector<std::string> shared_names_;
};

}  // namespace tenon::server
