#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <tenon/tenon.h>

#include <string>

namespace tenon::python {

namespace nb = nanobind;

/// An answer that a function of Python gives in the place of a model. It is ended once.
class Generation {
 public:
  explicit Generation(tenon_generation* generation) : generation_(generation) {}
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  void add(const std::string& piece);
  void finish(const std::string& text);
  void fail(const std::string& message, bool is_unreachable);
  [[nodiscard]] bool is_cancelled() const {
    return generation_ == nullptr || tenon_generation_is_cancelled(generation_);
  }

 private:
  tenon_generation* generation_;
};

/// Makes `start(generation, request)` the model of an engine. It returns at once; `request` is JSON.
void set_model(tenon_options* options, const std::string& name, const nb::object& start);

}  // namespace tenon::python
