#include "server/inspector.h"

#include <exception>
#include <utility>

namespace tenon::server {

void Inspector::begin(Inspect inspect, OnAnswer answer) {
  if (waiting_ >= inspections_max) {
    return answer(whole(make_error(503, "unavailable", "too many runs are being replayed; try again")));
  }
  ++waiting_;
  queue_.begin([this, inspect = std::move(inspect), answer = std::move(answer)] {
    auto response = perform(inspect);
    --waiting_;
    if (response) answer(whole(std::move(*response)));
  });
}

std::optional<HttpResponse> Inspector::perform(const Inspect& inspect) {
  try {
    if (reader_ == nullptr) {
      auto reader = open_();
      if (!reader) return make_error(503, "unavailable", reader.error().message);
      reader_ = std::move(*reader);
    }
    return inspect(reader_->journals());
  } catch (const std::exception& thrown) {
    report_(thrown.what());
    return make_error(500, "internal", "an internal error, which the server has reported where it runs");
  }
}

}  // namespace tenon::server
