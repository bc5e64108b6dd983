#include "core/options.h"

#include "core/model.h"
#include "core/waiting.h"

namespace tenon::python {

Setup::Setup(const std::vector<std::pair<std::string, std::string>>& options,
             const std::vector<std::pair<std::string, std::string>>& secrets,
             const std::vector<std::pair<std::string, std::shared_ptr<Extern>>>& externs, const std::string& model_name,
             nb::object start_model, const std::vector<std::string>& worker, nb::object need_loop,
             nb::object start_thread, std::size_t threads_max)
    : options_(tenon_options_new()),
      dispatcher_(
          std::make_shared<Dispatcher>(std::move(need_loop), std::move(start_thread), threads_max, !externs.empty())),
      start_model_(std::move(start_model)) {
  for (const auto& [name, value] : options) {
    done([&](tenon_error** error) { return tenon_options_set(options_.get(), name.c_str(), value.c_str(), error); });
  }
  for (const auto& [name, value] : secrets) {
    done([&](tenon_error** error) {
      return tenon_options_set_secret(options_.get(), name.c_str(), value.c_str(), error);
    });
  }
  for (const auto& [name, added] : externs) {
    added->set_dispatcher(dispatcher_);
    add_extern(options_.get(), name, added);
  }
  set_hooks(options_.get(), dispatcher_);
  if (!start_model_.is_none()) set_model(options_.get(), model_name, dispatcher_);
  std::vector<const char*> command;
  for (const std::string& part : worker) command.push_back(part.c_str());
  command.push_back(nullptr);
  tenon_options_set_worker(options_.get(), command.data());
}

}  // namespace tenon::python
