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
#include "core/model.h"
#include "core/types.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace tenon::python;

NB_MODULE(_core, module) {
  nb::set_leak_warnings(false);  // objects that are alive at exit are the user's
  module.def("version", [] { return tenon_version(); });
  module.def("end_callbacks", &end_callbacks);
  module.def("set_up", [](const nb::dict& classes, unsigned long main_thread) {
    set_exception_makers(nb::object(classes["error"]), nb::object(classes["failed"]));
    set_result_classes(nb::object(classes["ok"]), nb::object(classes["err"]));
    set_extern_classes(nb::object(classes["call"]), nb::object(classes["unavailable"]));
    set_main_thread(main_thread);
  });

  nb::class_<TypeList>(module, "TypeList").def(nb::init<const nb::list&, const nb::list&>());

  nb::class_<Extern>(module, "Extern")
      .def(nb::init<nb::object, nb::object, bool>(), "function"_a, "schedule"_a.none(), "takes_call"_a)
      .def("bind", &Extern::bind);

  nb::class_<DeferredCall>(module, "DeferredCall")
      .def("is_cancelled", &DeferredCall::is_cancelled)
      .def("finish", &DeferredCall::finish, "value"_a.none())
      .def("fail", &DeferredCall::fail);

  nb::class_<Generation>(module, "Generation")
      .def("is_cancelled", &Generation::is_cancelled)
      .def("add", &Generation::add)
      .def("finish", &Generation::finish)
      .def("fail", &Generation::fail);

  nb::class_<Run>(module, "Run")
      .def("name", &Run::name)
      .def("number", &Run::number)
      .def("prompt", &Run::prompt)
      .def("answer", &Run::answer)
      .def("cancel", &Run::cancel)
      .def("cancel_turn", &Run::cancel_turn)
      .def("wait", &Run::wait, "timeout"_a.none())
      .def("questions", &Run::questions)
      .def("outcome", &Run::outcome)
      .def("value", &Run::value)
      .def("is_typed", &Run::is_typed);

  nb::class_<Program>(module, "Program")
      .def("describe", &Program::describe)
      .def("warnings", &Program::warnings)
      .def("start_agent", &Program::start_agent);

  nb::class_<Function>(module, "Function")
      .def(nb::init<std::shared_ptr<Program>, std::string, std::shared_ptr<TypeList>,
                    const std::vector<std::pair<std::string, std::size_t>>&, std::size_t>())
      .def("call", &Function::call)
      .def("start", [](const Function& function, const nb::tuple& arguments, const nb::dict& named, bool has_events) {
        return function.start(nb::borrow<nb::args>(arguments), nb::borrow<nb::kwargs>(named), has_events);
      });

  nb::class_<Engine>(module, "Engine")
      .def(nb::init<const std::vector<std::pair<std::string, std::string>>&,
                    const std::vector<std::pair<std::string, std::shared_ptr<Extern>>>&, const std::string&,
                    const nb::object&>(),
           "options"_a, "externs"_a, "model_name"_a, "model"_a.none())
      .def("load", &Engine::load, "path"_a, "text"_a.none())
      .def("resume", &Engine::resume)
      .def("next_event", &Engine::next_event, "run"_a.none(), "timeout"_a.none())
      .def("descriptor", &Engine::descriptor)
      .def("stop", &Engine::stop);
}
