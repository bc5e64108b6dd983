// owning_process URL RUN: a process that owns a run, for tests that kill or stop it. It joins the store as a host, and
// appends one record after the other. After each attempt it writes what it would do next: `h` if it may begin an
// effect, `s` if it may not for now, and `r` if its append was refused; then it ends.
#include <unistd.h>

#include <cstdio>

#include "journal/open_store.h"

int main(int argc, char** argv) {
  using namespace tenon::journal;
  if (argc != 3) return 2;
  const auto owned = open_store(argv[1], {.durability = Durability::Process, .role = OwnerRole::Host});
  if (!owned) {
    std::fprintf(stderr, "%s\n", owned.error().message.c_str());
    return 1;
  }
  Append append;
  append.run = {argv[2]};
  append.records = {"record"};
  append.summary.title = "main";
  for (;; ++append.first) {
    const auto outcomes = (*owned)->journals().commit({&append, 1});
    const bool is_refused = !outcomes || outcomes->front();
    const char said = is_refused ? 'r' : (*owned)->ownership().lease() == LeaseState::Held ? 'h' : 's';
    if (::write(1, &said, 1) != 1) return 3;
    if (is_refused) return 0;
  }
}
