#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/program.h"
#include "tests/support/folders.h"

namespace tenon::tools {

/// A program of extern declarations, with the types that the libraries of this folder use.
struct DeclaredProgram {
  using Types = types::TypeTable;

  std::shared_ptr<bytecode::Program> program = std::make_shared<bytecode::Program>();
  types::TypeId order, mood, plain_mood, tree, percent, code, team, level, few, share;

  DeclaredProgram() {
    Types& types = program->types;
    order = types.add_struct({"Order",
                              "",
                              {{"id", Types::i64, ""},
                               {"price", Types::f64, ""},
                               {"tags", types.list(Types::string), ""},
                               {"note", types.option(Types::string), ""}}});
    mood = types.add_enum(
        {"Mood", "", {{"Good", "", {}}, {"Bad", "", {Types::string}}, {"Both", "", {Types::i32, Types::string}}}});
    plain_mood = types.add_enum({"PlainMood", "", {{"Good", "", {}}, {"Bad", "", {}}}});
    tree = types.add_struct({"Tree", "", {}});
    types.mutable_struct(tree).fields.push_back({"children", types.list(tree), ""});
    percent = types.refined(Types::i32, {.name = "Percent",
                                         .low = std::int64_t{0},
                                         .high = std::int64_t{100},
                                         .length_low = {},
                                         .length_high = {},
                                         .pattern = {}});
    code = types.refined(
        Types::string,
        {.name = "Code", .low = {}, .high = {}, .length_low = {}, .length_high = {}, .pattern = "[A-Z]{2}"});
    few = types.refined(types.list(Types::i64),
                        {.name = "Few", .low = {}, .high = {}, .length_low = {}, .length_high = 2, .pattern = {}});
    share = types.refined(Types::f64, {.name = "Share",
                                       .low = 0.0,
                                       .high = 1.0,
                                       .high_is_exclusive = true,
                                       .length_low = {},
                                       .length_high = {},
                                       .pattern = {}});
    team = types.make_union({"Team", std::vector<std::string>{"billing", "tech"}});
    level = types.make_union({"", std::vector<std::int64_t>{1, 2, 3}});
    program->sources.push_back({"test.tn", ""});
  }

  /// Returns the index of the new extern.
  std::uint32_t declare(std::string name, std::vector<types::TypeId> parameters, types::TypeId result) {
    bytecode::Extern declared;
    declared.name = std::move(name);
    declared.place = {0, static_cast<std::uint32_t>(program->externs.size() + 1), 1};
    for (std::size_t i = 0; i < parameters.size(); ++i) declared.parameter_names.push_back("p" + std::to_string(i));
    declared.parameters = std::move(parameters);
    declared.result = result;
    program->externs.push_back(std::move(declared));
    return static_cast<std::uint32_t>(program->externs.size() - 1);
  }
};

/// The path of a library of this folder: `extern_plain`.
inline std::string test_library(const std::string& name) {
  return test::externs_folder() / ("lib" + name + ".so");
}

}  // namespace tenon::tools
