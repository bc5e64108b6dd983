#include "library/options.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <type_traits>
#include <utility>
#include <vector>

#include "diagnostics/nearest.h"
#include "engine/process_system.h"
#include "library/callback_scope.h"

namespace tenon::library {
namespace {

using engine::EngineError;

/// Reads a whole text as a number, without changing `number` if it is none.
template <class Number>
bool read(std::string_view value, Number& number) {
  Number found = {};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), found);
  if (error != std::errc() || end != value.data() + value.size()) return false;
  number = found;
  return true;
}

bool read(std::string_view value, bool& is_on) {
  if (value != "true" && value != "false") return false;
  is_on = value == "true";
  return true;
}

bool read(std::string_view value, std::string& text) {
  text = value;
  return true;
}

bool read(std::string_view value, std::vector<std::string>& list) {
  list.emplace_back(value);
  return true;
}

template <class Value>
bool read(std::string_view value, std::optional<Value>& to) {
  Value found = to.value_or(Value());
  if (!read(value, found)) return false;
  to = std::move(found);
  return true;
}

bool read_megabytes(std::string_view value, std::optional<std::uint64_t>& bytes) {
  std::uint64_t megabytes = 0;
  if (!read(value, megabytes) || megabytes > UINT64_MAX >> 20U) return false;
  bytes = megabytes << 20U;
  return true;
}

struct Option {
  std::string_view name;
  std::string_view expected;  ///< what a value is
  /// Returns false, and changes nothing, if the value is invalid.
  bool (*set)(Options&, std::string_view value);
};

#define TENON_OPTION(name, expected, place)                                                             \
  Option {                                                                                              \
    name, expected, [](Options& options, std::string_view value) { return read(value, options.place); } \
  }
constexpr std::array all_options = {
    TENON_OPTION("model", "a model", settings.model.spec),
    TENON_OPTION("judge", "a model", settings.model.judge),
    TENON_OPTION("record", "a path", settings.model.record),
    TENON_OPTION("temperature", "a number", settings.model.temperature),
    TENON_OPTION("seed", "a number", settings.model.seed),
    TENON_OPTION("max-tokens", "a number", settings.model.tokens_max),
    TENON_OPTION("timeout-ms", "a number", settings.model.timeout_ms),
    TENON_OPTION("threads", "a number", settings.model.threads),
    TENON_OPTION("context-tokens", "a number", settings.model.context_tokens),
    TENON_OPTION("raw-prompts", "`true` or `false`", settings.model.raw_prompts),
    TENON_OPTION("store", "a path", store.path),
    TENON_OPTION("pool", "a name", pool),
    TENON_OPTION("agent", "a name", agent),
    TENON_OPTION("durability", "`full` or `process`", store.durability),
    TENON_OPTION("reports", "a path", store.reports),
    TENON_OPTION("report-library", "a path", report_library),
    TENON_OPTION("prompts", "a style or a path", settings.prompts),
    TENON_OPTION("repair", "a number", settings.repairs),
    TENON_OPTION("extern", "a path", settings.externs),
    TENON_OPTION("extern-threads", "a number", extern_threads),
    Option{"memory-mb", "a number",
           [](Options& options, std::string_view value) { return read_megabytes(value, options.memory_bytes_max); }},
};
#undef TENON_OPTION

/// The path of what is installed in the folder of libtenon, or of the program that libtenon is linked into. Empty: it
/// is not there, or the folder is only known relative to one that may have been left, where something else could be.
std::string find_beside(const char* name, int access) {
  static const char within = 0;  // its address is one of libtenon
  Dl_info own{};
  if (::dladdr(&within, &own) == 0 || own.dli_fname == nullptr) return {};
  const std::filesystem::path library(own.dli_fname);
  if (!library.is_absolute()) return {};
  const std::filesystem::path path = library.parent_path() / name;
  return ::access(path.c_str(), access) == 0 ? path.string() : std::string();
}

/// The function in a CallbackScope; empty if it is.
template <class... Given>
std::function<void(Given...)> within(const void* owner, std::function<void(Given...)> function) {
  if (!function) return function;
  return [owner, function = std::move(function)](Given... given) {
    const CallbackScope scope(owner);
    function(given...);
  };
}

}  // namespace

Result<void, EngineError> set_option(Options& options, std::string_view name, std::string_view value) {
  const auto* const found = std::ranges::find(all_options, name, &Option::name);
  if (found == all_options.end()) {
    std::vector<std::string_view> names;
    for (const Option& option : all_options) names.push_back(option.name);
    std::string message = "there is no option `" + std::string(name) + "`";
    if (const auto nearest = diagnostics::find_nearest(name, names)) {
      message += "; did you mean `" + std::string(*nearest) + "`?";
    }
    return failure(EngineError{EngineError::Kind::Usage, std::move(message)});
  }
  if (found->set(options, value)) return {};
  return failure(EngineError{EngineError::Kind::Usage,
                             "expected " + std::string(found->expected) + ", got `" + std::string(value) + "`",
                             std::string(name)});
}

Result<void, EngineError> set_secret(Options& options, std::string_view name, std::string_view value) {
  if (name.empty() || name.find('=') != std::string_view::npos) {
    return failure(EngineError{EngineError::Kind::Usage,
                               "a secret needs the name of a variable, such as `OPENAI_API_KEY`, without `=`"});
  }
  options.secrets.insert_or_assign(std::string(name), std::string(value));
  return {};
}

void note_callbacks(tools::ProvidedFunctionMap& functions, tools::ProvidedHooks& hooks, const void* owner) {
  for (auto& [name, function] : functions) function = within(owner, std::move(function));
  hooks.before_calls = within(owner, std::move(hooks.before_calls));
  hooks.after_calls = within(owner, std::move(hooks.after_calls));
  hooks.on_cancelled = within(owner, std::move(hooks.on_cancelled));
}

engine::System prepare_system(Options& options, FileSystem& files, Clock& clock, const void* owner) {
  if (options.model) options.settings.model.spec = "own:" + options.model->name;
  for (const auto& [name, function] : options.functions) options.settings.provided.push_back(name);
  engine::System system = engine::process_system(files, clock);
  system.on_notice = within(owner, options.on_notice);
  system.executable.clear();  // this program cannot do what `tenon` does
  system.worker = options.worker;
  system.report_library = options.report_library;
  const std::string worker = find_beside("tenon_extern_worker", X_OK);
  if (system.worker.empty() && !worker.empty()) system.worker = {worker};
  if (system.report_library.empty()) system.report_library = find_beside("tenon_report.so", R_OK);
  system.variable = [secrets = options.secrets, of_environment = system.variable](const char* name) {
    const auto found = secrets.find(name);
    return found == secrets.end() ? of_environment(name) : found->second;
  };
  return system;
}

}  // namespace tenon::library
