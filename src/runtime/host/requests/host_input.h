#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/store.h"
#include "json/json.h"
#include "runtime/host/requests/host_reply.h"
#include "runtime/program_image.h"
#include "runtime/run_options.h"
#include "vm/machine.h"

/// The requests that a host receives.
namespace tenon::runtime {

/// What a run is started with: a function with its arguments, or an agent with its first prompt.
struct RunStart {
  std::shared_ptr<const ProgramImage> image;
  std::uint32_t function = 0;               ///< an index into Program::functions
  std::optional<std::uint32_t> agent = {};  ///< an index into Program::agents: then there is no function
  Json arguments = Json::object();          ///< of a function: a member for each parameter (runtime/arguments.h)
  std::optional<Json> input = {};           ///< of an agent; nothing: it waits for a prompt
  RunOptions options = {};
  std::string shown_name = {};  ///< of the function, for messages; empty: its own
};

/// Makes the first records of a run of that name, from what the store has. Called on a thread that reads the store.
using MakeRun =
    std::function<Result<journal::Append, HostFailure>(journal::Store& store, const journal::RunName& name)>;

/// What is to end.
enum class CancelScope : std::uint8_t {
  Turn,  ///< of a conversation the current turn, of a function the run
  Run,
};

/// A client's input, as an answer or as a prompt.
struct Input {
  enum class Form : std::uint8_t {
    Json,   ///< a text type wants a JSON string; for any other type a string is also taken for the JSON that it holds
    Typed,  ///< a text, as it is typed at a terminal: text types raw, the rest as JSON
  };
  Form form = Form::Json;
  Json json;
};

/// Which question a message answers when a conversation asks several things, and none of them was shown.
enum class SeveralQuestions : std::uint8_t {
  Refuse,
  Oldest,
};

/// What a client says of one of a conversation's questions.
struct GivenAnswer {
  std::string wait;
  std::optional<Json> input;  ///< nothing: there will be no answer, and the turn is cancelled
};

/// The program that continues conversations with the agent of that name, and its libraries for the record; no image
/// when there is none.
struct NewestImage {
  std::shared_ptr<const ProgramImage> image;
  std::vector<std::string> libraries;
};
using NewestProgram = std::function<NewestImage(std::string_view agent)>;

}  // namespace tenon::runtime
