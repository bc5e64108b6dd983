#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <tenon/tenon.h>

#include <memory>
#include <string>

namespace tenon::python {

namespace nb = nanobind;

class Dispatcher;

/// An answer that a function of Python gives in the place of a model. It is ended once.
class Generation {
 public:
  Generation(tenon_generation* generation, std::shared_ptr<Dispatcher> dispatcher)
      : generation_(generation), dispatcher_(std::move(dispatcher)) {}
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  void add(const std::string& piece);
  void finish(const std::string& text);
  void fail(const std::string& message, bool is_unreachable);
  /// A recorded run asks again.
  void give_up();
  [[nodiscard]] bool is_cancelled() const {
    return generation_ == nullptr || tenon_generation_is_cancelled(generation_);
  }

 private:
  [[nodiscard]] tenon_generation* take();

  tenon_generation* generation_;
  std::shared_ptr<Dispatcher> dispatcher_;
};

/// Has a dispatcher start the answers of an engine's model.
void set_model(tenon_options* options, const std::string& name, const std::shared_ptr<Dispatcher>& dispatcher);

}  // namespace tenon::python
