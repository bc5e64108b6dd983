#include "server/service.h"

#include <utility>

namespace tenon::server {
namespace {

Catalog make_catalog(const engine::HostedPrograms& programs) {
  Catalog catalog;
  for (const auto& [file, image, options] : programs.entries()) {
    catalog.add_program(file, image, options);
  }
  return catalog;
}

std::unique_ptr<Inspector> make_inspector(const engine::Hosting& hosting, engine::EventHub& hub) {
  return std::make_unique<Inspector>([&hosting] { return hosting.open_reader(); },
                                     [&hub](std::string_view message) { hub.report(message); });
}

}  // namespace

Service::Service(engine::Hosting& hosting, engine::EventHub& hub, ServiceOptions options)
    : options_(std::move(options)),
      catalog_(make_catalog(hosting.programs())),
      inspector_(options_.programs == nullptr ? nullptr : make_inspector(hosting, hub)),
      api_({.hosting = hosting,
            .host = hosting.host(),
            .hub = hub,
            .store = hosting.reader().journals(),
            .store_file = hosting.store_file(),
            .runs = hosting.reader().runs(),
            .ownership = hosting.ownership(),
            .catalog = catalog_,
            .limits = options_.limits,
            .counts = counts_,
            .spans = hosting.exported_spans(),
            .token = options_.token,
            .model = hosting.programs().model().spec,
            .reports = hosting.reports(),
            .programs = options_.programs,
            .changed = options_.studio.empty() ? nullptr : &changed_,
            .inspector = inspector_.get(),
            .studio = options_.studio}),
      http_(api_, options_.limits, counts_, options_.stopped_by) {
  hub.watch_others(hosting.wakeups());
  hub.catch_up_by([&host = hosting.host()](const journal::RunName& run) { host.repeat_text(run); });
  if (options_.programs == nullptr) return;
  std::vector<std::string> paths;
  for (const ProgramFiles::File& file : options_.programs->files) paths.push_back(file.path);
  files_.emplace(paths, [this, &hub, programs = options_.programs](std::size_t file) {
    changed_.add(file);
    hub.add_program_change(programs->files[file].name);
  });
}

/// What is still being replayed is answered while there are connections.
Service::~Service() {
  inspector_.reset();
}

}  // namespace tenon::server
