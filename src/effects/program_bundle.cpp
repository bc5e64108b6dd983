#include "effects/program_bundle.h"

#include "base/wire.h"

namespace tenon::effects {
namespace {

enum : std::uint32_t { field_format = 1, field_program = 2, field_wording = 3 };

}  // namespace

std::string encode(const ProgramBundle& bundle) {
  wire::Writer out;
  out.present_field(field_format, bundle_format);
  out.present_field(field_program, bundle.program);
  for (const auto& [name, text] : bundle.wordings) {
    wire::Writer wording;
    wording.present_field(1, name);
    wording.present_field(2, text);
    out.present_field(field_wording, wording);
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
      case field_wording: {
        wire::Reader wording(in.bytes_value());
        auto& [name, text] = bundle.wordings.emplace_back();
        while (wording.next_field()) {
          if (wording.number() == 1) {
            name = wording.bytes_value();
          } else if (wording.number() == 2) {
            text = wording.bytes_value();
          } else {
            wording.reject();
          }
        }
        if (!wording.is_good()) in.reject();
        break;
      }
      default:
        in.reject();
    }
  }
  if (format > bundle_format) return failure(BundleError{"the program was kept by a newer Tenon"});
  if (!in.is_good() || format == 0) return failure(BundleError{"the bytes are no program"});
  return bundle;
}

}  // namespace tenon::effects
