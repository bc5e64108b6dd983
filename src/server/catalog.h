#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "json/json.h"
#include "runtime/host/host.h"

namespace tenon::server {

/// What can be started: an agent or a function of one of the served programs.
struct CatalogEntry {
  std::string name;  ///< the function's, or `FILE.name` where several files have it
  std::shared_ptr<const runtime::ProgramImage> image;
  std::uint32_t function = 0;          ///< of an agent: its turn, (Context, input) -> value
  std::optional<std::uint32_t> agent;  ///< an index into Program::agents
  runtime::RunOptions options;

  /// Without input or arguments.
  [[nodiscard]] runtime::RunStart make_start() const {
    return {.image = image, .function = function, .agent = agent, .options = options, .shown_name = name};
  }
  /// For an entry that takes one text.
  [[nodiscard]] runtime::RunStart make_start(const std::string& text) const;
  [[nodiscard]] const bytecode::Function& declared() const { return image->program().functions[function]; }
  /// The name in its program and its runs.
  [[nodiscard]] const std::string& declared_name() const {
    return agent ? image->program().agents[*agent].name : declared().name;
  }
  /// The parameters that a client passes: all but those of type Context, which get an empty one.
  [[nodiscard]] std::vector<std::size_t> given_parameters() const;
  /// Whether it takes exactly one text, so that it can be used in a chat.
  [[nodiscard]] bool takes_a_text() const;
  /// {"name","kind": "agent" or "function","description","input": JSON Schema of the arguments,"output": JSON Schema of
  /// the value,"takes_text"}
  [[nodiscard]] Json describe() const;
};

/// Everything that a server serves.
class Catalog {
 public:
  /// `path`: of the program's file, whose name without folder and ending is used for names that several programs have.
  void add_program(const std::string& path, std::shared_ptr<const runtime::ProgramImage> image,
                   const runtime::RunOptions& options);
  /// Puts another version in the place of an added program.
  void replace_program(const std::string& path, std::shared_ptr<const runtime::ProgramImage> image,
                       const runtime::RunOptions& options);
  [[nodiscard]] const CatalogEntry* find(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, CatalogEntry, std::less<>>& entries() const { return entries_; }
  /// The most similar name; empty when none is similar.
  [[nodiscard]] std::string nearest(std::string_view name) const;

 private:
  struct Served {
    std::string path;
    std::shared_ptr<const runtime::ProgramImage> image;
    runtime::RunOptions options;
  };
  void add_entries(const Served& served);
  void add(const std::string& file, CatalogEntry entry);

  std::vector<Served> programs_;
  std::map<std::string, CatalogEntry, std::less<>> entries_;
  std::map<std::string, std::string, std::less<>> files_;  ///< by the plain name of an entry
  std::vector<std::string> shared_names_;
};

}  // namespace tenon::server
