#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <tenon/tenon.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatcher.h"
#include "core/externs.h"

namespace tenon::python {

namespace nb = nanobind;

/// The options of an engine or a host, and what starts the functions of Python that perform its externs and its model.
class Setup {
 public:
  /// `start_model`: as in Dispatcher::run_ready, or None. `need_loop`: as in Dispatcher. `worker`: the command of
  /// `extern(process)`. `start_thread` and `threads_max`: as for CallQueue.
  /// `secrets`: as for `tenon_options_set_secret`.
  Setup(const std::vector<std::pair<std::string, std::string>>& options,
        const std::vector<std::pair<std::string, std::string>>& secrets,
        const std::vector<std::pair<std::string, std::shared_ptr<Extern>>>& externs, const std::string& model_name,
        nb::object start_model, const std::vector<std::string>& worker, nb::object need_loop, nb::object start_thread,
        std::size_t threads_max);

  [[nodiscard]] const tenon_options* options() const { return options_.get(); }
  [[nodiscard]] const std::shared_ptr<Dispatcher>& dispatcher() const { return dispatcher_; }
  /// As CallQueue::take and CallQueue::close.
  [[nodiscard]] nb::object take_call(bool is_first) { return dispatcher_->calls().take(is_first); }
  void close_calls() { dispatcher_->calls().close(); }
  /// Starts what is ready. With the lock.
  void dispatch() { dispatcher_->run_ready(start_model_); }

 private:
  std::unique_ptr<tenon_options, host::Free<&tenon_options_free>> options_;
  std::shared_ptr<Dispatcher> dispatcher_;
  nb::object start_model_;
};

}  // namespace tenon::python
