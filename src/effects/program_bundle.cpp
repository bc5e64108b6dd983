#include "effects/program_bundle.h"

#include "base/wire.h"

namespace tenon::effects {
namespace {

enum : std::uint32_t { field_format = 1, field_program = 2, field_template = 3 };

}  // namespace

std::string encode(const ProgramBundle& bundle) {
  wire::Writer out;
  out.present_field(field_format, bundle_format);
  out.present_field(field_program, bundle.program);
  for (const auto& [name, text] : bundle.templates) {
    wire::Writer entry;
    entry.present_field(1, name);
    entry.present_field(2, text);
    out.present_field(field_template, entry);
  }
  return out.take();
}

Result<ProgramBundle, BundleError> decode_bundle(std::string_view bytes) {
  wire::Reader in(bytes);
  ProgramBundle bundle;
  std::uint64_t format = 0;
  while (in.next_field()) {
    switch (in.number()) {
      case field_format:
        format = in.value();
        break;
      case field_program:
        bundle.program = in.bytes_value();
        break;
      case field_template: {
        wire::Reader entry(in.bytes_value());
        auto& [name, text] = bundle.templates.emplace_back();
        while (entry.next_field()) {
          if (entry.number() == 1) {
            name = entry.bytes_value();
          } else if (entry.number() == 2) {
            text = entry.bytes_value();
          } else {
            entry.reject();
          }
        }
        if (!entry.is_good()) in.reject();
        break;
      }
      default:
        in.reject();
    }
  }
  if (format > bundle_format) return failure(BundleError{"the program was kept by a newer Tenon"});
  if (!in.is_good() || format == 0) return failure(BundleError{"the bytes are not a program"});
  return bundle;
}

}  // namespace tenon::effects
