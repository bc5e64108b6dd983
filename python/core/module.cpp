// The module tenon._core: what the package tenon needs of tenon/tenon.h. Its users are the package's own files.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "core/engine.h"
#include "core/errors.h"
#include "core/externs.h"
#include "core/gil.h"
#include "core/host.h"
#include "core/model.h"
#include "core/selector.h"
#include "core/types.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace tenon::python;

static void add_hosts(nb::module_& module) {
  module.attr("HOST") = static_cast<int>(TENON_HOST);
  module.attr("GATEWAY") = static_cast<int>(TENON_GATEWAY);
  module.attr("START") = static_cast<int>(TENON_START);
  module.attr("PROMPT") = static_cast<int>(TENON_PROMPT);
  module.attr("ANSWER") = static_cast<int>(TENON_ANSWER);
  module.attr("CANCEL") = static_cast<int>(TENON_CANCEL);
  module.attr("CANCEL_TURN") = static_cast<int>(TENON_CANCEL_TURN);

  nb::class_<Follower>(module, "Follower")
      .def("next", &Follower::next, "timeout"_a.none())
      .def("is_at_end", &Follower::is_at_end)
      .def("state", &Follower::state)
      .def("descriptor", &Follower::descriptor);

  nb::class_<Host>(module, "Host")
      .def(nb::init<tenon_host_role, const std::vector<std::string>&, std::shared_ptr<Setup>>())
      .def("begin", &Host::begin)
      .def("stop", &Host::stop, "grace"_a, "timeout"_a.none())
      .def("serve", &Host::serve)
      .def("status", &Host::status)
      .def("owners", &Host::owners)
      .def("counts", &Host::counts)
      .def("pools_without_hosts", &Host::pools_without_hosts)
      .def("describe", &Host::describe)
      .def("placements", &Host::placements)
      .def("release", &Host::release)
      .def("run", &Host::run)
      .def("runs", &Host::runs, "state"_a.none(), "after"_a.none(), "limit"_a)
      .def("outcome", &Host::outcome)
      .def("send", &Host::send, "kind"_a, "name"_a, "wait"_a.none(), "input"_a, "key"_a.none(), "is_awaited"_a)
      .def("wait_for_reply", &Host::wait_for_reply, "number"_a, "timeout"_a.none())
      .def("take_replies", &Host::take_replies)
      .def("abandon", &Host::abandon)
      .def("reply_descriptor", &Host::reply_descriptor)
      .def("follow", &Host::follow)
      .def("dispatch_descriptor", &Host::dispatch_descriptor)
      .def("dispatch", &Host::dispatch)
      .def("expect_loop", &Host::expect_loop);
}

/// Functions and models of Python, and their calls in progress.
static void add_externs(nb::module_& module) {
  nb::class_<TypeList>(module, "TypeList")
      .def(nb::init<const nb::list&, const nb::list&, bool>(), "descriptions"_a, "classes"_a, "is_shared"_a = false);

  // Numbers: nanobind's enums need the module enum, which takes long to import.
  module.attr("SUITABLE_THREAD") = static_cast<int>(ExternThread::Suitable);
  module.attr("OWN_THREAD") = static_cast<int>(ExternThread::Own);
  module.attr("ENGINE_THREAD") = static_cast<int>(ExternThread::Engine);

  nb::class_<Extern>(module, "Extern")
      .def(nb::init<nb::object, nb::object, int, bool>(), "function"_a, "schedule"_a.none(), "thread"_a, "takes_call"_a)
      .def("bind", &Extern::bind)
      .def("close", &Extern::close)
      .def("completes_later", &Extern::completes_later);

  nb::class_<DeferredCall>(module, "DeferredCall")
      .def("is_cancelled", &DeferredCall::is_cancelled)
      .def("may_begin", &DeferredCall::may_begin)
      .def("finish", &DeferredCall::finish, "value"_a.none())
      .def("fail", &DeferredCall::fail)
      .def("run", &DeferredCall::run)
      .def(
          "interrupt", [](DeferredCall& call, nb::handle /*task*/) { call.interrupt(); }, "task"_a.none() = nb::none());

  nb::class_<Generation>(module, "Generation")
      .def("is_cancelled", &Generation::is_cancelled)
      .def("add", &Generation::add)
      .def("finish", &Generation::finish)
      .def("fail", &Generation::fail)
      .def(
          "give_up", [](Generation& generation, nb::handle /*task*/) { generation.give_up(); },
          "task"_a.none() = nb::none());
}

/// Programs, their functions and their runs.
static void add_runs(nb::module_& module) {
  nb::class_<Run>(module, "Run")
      .def("name", &Run::name)
      .def("number", &Run::number)
      .def("key", &Run::key)
      .def("title", &Run::title)
      .def("prompt", &Run::prompt)
      .def("answer", &Run::answer)
      .def("cancel", &Run::cancel)
      .def("cancel_turn", &Run::cancel_turn)
      .def("wait", &Run::wait, "timeout"_a.none())
      .def("questions", &Run::questions)
      .def("prompts", &Run::prompts)
      .def("outcome", &Run::outcome)
      .def("value", &Run::value)
      .def("is_typed", &Run::is_typed);

  nb::class_<Program>(module, "Program")
      .def("describe", &Program::describe)
      .def("warnings", &Program::warnings)
      .def("start_agent", &Program::start_agent)
      .def("tests", &Program::tests)
      .def("run_test", &Program::run_test)
      .def("graph", &Program::graph);

  nb::class_<Function>(module, "Function", nb::type_slots(Function::slots))
      .def(nb::init<std::shared_ptr<Program>, std::string, std::shared_ptr<TypeList>,
                    const std::vector<std::pair<std::string, std::size_t>>&, std::size_t, nb::object, nb::object>(),
           "program"_a, "name"_a, "types"_a, "parameters"_a, "result"_a, "waiting"_a, "before_wait"_a)
      .def("_start", [](const Function& function, const nb::tuple& arguments, const nb::dict& named,
                        std::uint32_t flags) { return function.start(arguments, named, flags); });
}

/// Engines, and how they are set up.
static void add_engine(nb::module_& module) {
  nb::class_<Setup>(module, "Setup")
      .def(nb::init<const std::vector<std::pair<std::string, std::string>>&,
                    const std::vector<std::pair<std::string, std::string>>&,
                    const std::vector<std::pair<std::string, std::shared_ptr<Extern>>>&, const std::string&, nb::object,
                    const std::vector<std::string>&, nb::object, nb::object, std::size_t>(),
           "options"_a, "secrets"_a, "externs"_a, "model_name"_a, "start_model"_a.none(), "worker"_a, "need_loop"_a,
           "start_thread"_a, "threads_max"_a)
      .def("take_call", &Setup::take_call, "is_first"_a)
      .def("close_calls", &Setup::close_calls);

  nb::class_<Engine>(module, "Engine")
      .def(nb::init<std::shared_ptr<Setup>>())
      .def("load", &Engine::load, "path"_a, "text"_a.none())
      .def("compile", &Engine::compile)
      .def("load_stored", &Engine::load_stored)
      .def("resume", &Engine::resume)
      .def("fork", &Engine::fork, "name"_a, "at"_a, "program"_a.none(), "flags"_a)
      .def("replay", &Engine::replay, "name"_a, "program"_a.none())
      .def("artifacts", &Engine::artifacts)
      .def("begin", &Engine::begin)
      .def("abandon", &Engine::abandon)
      .def("is_awaited", &Engine::is_awaited)
      .def("give_up", &Engine::give_up)
      .def("take_stops", &Engine::take_stops)
      .def("dispatch_descriptor", &Engine::dispatch_descriptor)
      .def("dispatch", &Engine::dispatch)
      .def("expect_loop", &Engine::expect_loop)
      .def("next_event", &Engine::next_event, "run"_a.none(), "timeout"_a.none(), "releases"_a)
      .def("refuse_use_within", &Engine::refuse_use_within)
      .def("releases", &Engine::releases)
      .def("release_waits", &Engine::release_waits)
      .def("start_thread", &Engine::start_thread)
      .def("descriptor", &Engine::descriptor)
      .def("stop", &Engine::stop);
}

NB_MODULE(_core, module) {
  nb::set_leak_warnings(false);  // objects that are alive at exit are the user's
  module.def("version", [] { return tenon_version(); });
  module.def("begin_end", &begin_end);
  module.def("end_loops", &end_loops);
  module.def("select_events", &select_events, "epoll"_a, "timeout"_a.none(), "count"_a);
  module.def("extern_worker", [] { return without_lock([] { return tenon_extern_worker(); }); });
  module.def("store_runs", &store_runs, "store"_a, "state"_a.none(), "after"_a.none(), "limit"_a);
  module.attr("WITH_EVENTS") = TENON_WITH_EVENTS;
  module.attr("WITH_STOPS") = TENON_WITH_STOPS;
  module.attr("WITH_PROMPTS") = TENON_WITH_PROMPTS;
  module.def("set_up", [](const nb::dict& classes, unsigned long main_thread) {
    set_exception_makers(nb::object(classes["error"]), nb::object(classes["failed"]));
    set_result_classes(nb::object(classes["ok"]), nb::object(classes["err"]), nb::object(classes["err_of"]));
    set_extern_classes({nb::object(classes["call"]), nb::object(classes["unavailable"]),
                        nb::object(classes["pause_for_input"]), nb::object(classes["pause_for_child"]),
                        nb::object(classes["finish_agent"]), nb::object(classes["note_cause"])});
    set_main_thread(main_thread);
  });

  add_externs(module);
  add_runs(module);
  add_engine(module);
  add_hosts(module);
}
