#include "journal/inline_store.h"

namespace tenon::journal {

void InlineStore::finish() {
  if (begun_.empty()) return;
  committer_.rest();
  for (auto& [work, done] : std::exchange(begun_, {})) {
    work(store_);
    performed_.push_back(std::move(done));
  }
}

std::size_t InlineStore::deliver() {
  finish();
  const std::vector<Done> performed = std::exchange(performed_, {});
  for (const Done& done : performed) done();
  return performed.size();
}

}  // namespace tenon::journal
