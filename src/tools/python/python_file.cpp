#include "tools/python/python_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "diagnostics/kinds.h"
#include "inference/answers/mismatch.h"
#include "inference/answers/value_reader.h"
#include "json/json.h"
#include "json/reader.h"
#include "json/writer.h"
#include "tools/process/process_limits.h"
#include "tools/process/worker_pool.h"
#include "tools/python/worker_source.h"
#include "tools/type_descriptions.h"
#include "vm/values/render.h"

namespace tenon::tools {
namespace {

using types::FailureKind;

/// How long a file may take to be loaded.
constexpr std::chrono::milliseconds loading_max{60'000};

ExternProblem not_loaded(const std::string& name, const std::string& reason) {
  return make_problem(diagnostics::LibraryNotLoadable, name, reason);
}

std::string describe_externs(const std::string& path, const bytecode::Program& program) {
  TypeDescriptions types(program.types);
  Json externs = Json::array();
  for (const bytecode::Extern& declared : program.externs) {
    if (declared.builtin_effect != types::BuiltinEffect::Native) continue;
    externs.push_back(describe_callable(program.types, types, declared.name, declared.documentation,
                                        declared.parameter_names, declared.parameters, declared.result));
  }
  return Json::object({{"path", path}, {"externs", std::move(externs)}, {"types", types.take()}}).dump();
}

}  // namespace

bool is_python_file(std::string_view library) {
  return library.ends_with(".py");
}

WorkerCommand python_command(const std::string& interpreter, std::vector<std::string> environment) {
  return {
      interpreter, {"python3", "-c", std::string(worker_source()), std::to_string(::getpid())}, std::move(environment)};
}

Result<PythonFile, ExternProblem> PythonFile::open(const std::string& name, const std::string& folder,
                                                   const bytecode::Program& program, const WorkerCommand& command) {
  PythonFile file;
  file.name_ = name;
  std::error_code error;
  const std::filesystem::path path =
      folder.empty() ? std::filesystem::path(name) : std::filesystem::path(folder) / name;
  file.path_ = std::filesystem::absolute(path, error).lexically_normal().string();
  if (error || !std::filesystem::is_regular_file(file.path_, error)) {
    return failure(make_problem(diagnostics::LibraryNotFound, name));
  }
  if (command.path.empty()) {
    ExternProblem problem = not_loaded(name, "there is no `python3`");
    problem.hints.push_back("install Python 3.10 or newer, or set the variable TENON_PYTHON to its path");
    return failure(std::move(problem));
  }
  file.greeting_ = describe_externs(file.path_, program);
  const auto reply = ask_worker(command, file.greeting_, loading_max);
  if (!reply) return failure(not_loaded(name, reply.error()));
  const auto json = parse_json(*reply);
  if (!json || !json->is_object()) return failure(not_loaded(name, "its process sent something that is not a reply"));
  if (const Json* const failed = json->find("error")) return failure(not_loaded(name, failed->as_string()));
  for (const Json& function : json->get("functions").items_or_none()) {
    if (function.is_string()) file.functions_.push_back(function.as_string());
  }
  if (const Json& externs = json->get("externs"); externs.is_object()) {
    for (const auto& [extern_name, problem] : externs.members()) {
      file.externs_[extern_name] = problem.is_string() ? std::optional(problem.as_string()) : std::nullopt;
    }
  }
  return file;
}

Result<std::string, ExternError> python_request(const bytecode::Extern& declared, const types::TypeTable& types,
                                                std::span<const vm::Value> arguments, std::string_view key,
                                                const std::optional<std::string>& input, const std::string& blame) {
  std::string values = "[";
  for (const vm::Value& argument : arguments) {
    if (values.size() > 1) values += ',';
    if (const auto written = vm::to_json(argument, types, values); !written) {
      return failure(ExternError{FailureKind::ToolFailed,
                                 "an argument cannot be passed to a process: " + vm::describe(written.error()), blame});
    }
  }
  values += ']';
  std::string message;
  JsonWriter writer(message);
  writer.begin_object().name("extern").text(declared.name).name("key").text(key).name("arguments").raw(values);
  if (input) writer.name("input").text(*input);
  writer.end_object();
  return message;
}

ExternOutcome read_python_reply(const bytecode::Extern& declared, const vm::Refinements& refinements,
                                std::string_view reply, const std::string& blame) {
  ExternError error{FailureKind::ToolFailed, {}, blame};
  const auto json = parse_json(reply, own_json_limits);
  if (!json || !json->is_object()) {
    error.message = "its process returned an invalid result";
    return failure(std::move(error));
  }
  if (const Json* const value = json->find("value")) {
    auto read = inference::answers::ValueReader(refinements).read(declared.result, *value);
    if (read) return std::move(*read);
    error.message = inference::answers::describe(read.error().front(), "the result");
    return failure(std::move(error));
  }
  const std::string input = json->text_or("input", "");
  if (json->contains("question")) {
    error.question = json->text_or("question", "");
  } else if (json->contains("pause_for_child")) {
    error.prompt = effects::AgentPrompt{json->text_or("pause_for_child", ""), input, vm::PromptKind::PauseForChild};
  } else if (json->contains("finish_agent")) {
    error.prompt = effects::AgentPrompt{json->text_or("finish_agent", ""), input, vm::PromptKind::FinishAgent};
  } else {
    error.message = json->text_or("error", "its process returned an invalid result");
    error.is_unavailable = json->boolean_or("unavailable", false);
  }
  return failure(std::move(error));
}

}  // namespace tenon::tools
