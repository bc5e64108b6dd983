#include "algebra/npz.h"

#include <fmt/format.h>

#include <array>
#include <concepts>
#include <numeric>

#include "algebra/form.h"
#include "algebra/matrices.h"

namespace tenon::algebra {
namespace {

/// The checksum of the zip format (PKWARE's APPNOTE): CRC-32 with the polynomial 0xEDB88320, least significant bit
/// first.
std::uint32_t crc32(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t at = 0; at < made.size(); ++at) {
      std::uint32_t value = at;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
      made[at] = value;
    }
    return made;
  }();
  std::uint32_t crc = UINT32_MAX;
  for (const char byte : bytes) crc = (crc >> 8U) ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU];
  return ~crc;
}

/// Lowest byte first.
template <std::unsigned_integral T>
void put(std::string& out, T number) {
  for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
    out += static_cast<char>(static_cast<std::uint64_t>(number) >> (8U * byte));
  }
}

/// The archive: members without compression, then the directory that a reader begins with.
class Zip {
 public:
  void add(std::string_view name, const std::string& bytes) {
    const std::string entry = describe(name, bytes);
    put(directory_, std::uint32_t{0x02014B50});
    put(directory_, version);  // made by
    directory_ += entry;
    for (int field = 0; field < 4; ++field) put(directory_, std::uint16_t{0});  // comment, disk, attributes
    put(directory_, std::uint16_t{0});
    put(directory_, static_cast<std::uint32_t>(bytes_.size()));
    directory_ += name;
    put(bytes_, std::uint32_t{0x04034B50});
    bytes_ += entry;
    bytes_ += name;
    bytes_ += bytes;
    ++count_;
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  std::string finish() {
    const auto start = static_cast<std::uint32_t>(bytes_.size());
    bytes_ += directory_;
    put(bytes_, std::uint32_t{0x06054B50});
    put(bytes_, std::uint32_t{0});  // disks
    put(bytes_, count_);
    put(bytes_, count_);
    put(bytes_, static_cast<std::uint32_t>(directory_.size()));
    put(bytes_, start);
    put(bytes_, std::uint16_t{0});
    return std::move(bytes_);
  }

 private:
  static constexpr std::uint16_t version{20};

  /// What both headers of a member say.
  static std::string describe(std::string_view name, const std::string& bytes) {
    std::string entry;
    put(entry, version);                // needed to read it
    put(entry, std::uint16_t{0});       // flags
    put(entry, std::uint16_t{0});       // stored
    put(entry, std::uint16_t{0});       // midnight
    put(entry, std::uint16_t{0x0021});  // of 1980-01-01: the archive tells no time
    put(entry, crc32(bytes));
    put(entry, static_cast<std::uint32_t>(bytes.size()));
    put(entry, static_cast<std::uint32_t>(bytes.size()));
    put(entry, static_cast<std::uint16_t>(name.size()));
    put(entry, std::uint16_t{0});  // extra fields
    return entry;
  }

  std::string bytes_;
  std::string directory_;
  std::uint16_t count_ = 0;
};

using Shape = std::vector<std::size_t>;

/// An array in NumPy's format 1.0.
class Archive {
 public:
  template <class T>
  void add(const std::string& name, const Shape& shape, const std::vector<T>& items) {
    if (!begin(name, "<i8", shape, sizeof(std::int64_t))) return;
    for (const T item : items) put(bytes_, static_cast<std::uint64_t>(item));
    zip_.add(name + ".npy", bytes_);
  }
  void add_bytes(const std::string& name, const Shape& shape, std::string_view items) {
    if (!begin(name, "|u1", shape, 1)) return;
    bytes_ += items;
    zip_.add(name + ".npy", bytes_);
  }
  Result<std::string, AlgebraError> finish() {
    if (!problem_.empty()) return failure(AlgebraError{problem_});
    return zip_.finish();
  }

 private:
  bool begin(const std::string& name, std::string_view type, const Shape& shape, std::size_t item_bytes) {
    std::size_t bytes = item_bytes;
    for (const std::size_t extent : shape) {
      if (extent != 0 && bytes > array_bytes_max / extent) bytes = array_bytes_max + 1;
      if (bytes <= array_bytes_max) bytes *= extent;
    }
    if (!problem_.empty() || bytes > array_bytes_max - zip_.size()) {
      if (problem_.empty())
        problem_ = fmt::format("with `{}` the archive takes more than {} MB", name, array_bytes_max >> 20U);
      return false;
    }
    std::string extents;
    for (const std::size_t extent : shape) extents += fmt::format("{}, ", extent);
    if (shape.size() > 1) extents.resize(extents.size() - 2);
    if (shape.size() == 1) extents.pop_back();
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, extents);
    // The whole head, ten bytes before the header counted, is a multiple of 64 and ends with a line end.
    header.append(63 - (header.size() + 10) % 64, ' ');
    header += '\n';
    bytes_ = "\x93NUMPY\x01";
    put(bytes_, std::uint8_t{0});
    put(bytes_, static_cast<std::uint16_t>(header.size()));
    bytes_ += header;
    return true;
  }

  Zip zip_;
  std::string bytes_;
  std::string problem_;
};

void add_masks(Archive& archive, const std::string& name, const Shape& shape, const std::vector<Mask>& masks) {
  std::string cells;
  for (const Mask& mask : masks) cells.append(mask.cells().begin(), mask.cells().end());
  archive.add_bytes(name, shape, cells);
}

void add_texts(Archive& archive, const std::string& name, const std::vector<std::string>& texts) {
  std::string all;
  std::vector<std::size_t> ends;
  for (const std::string& text : texts) {
    all += text;
    ends.push_back(all.size());
  }
  archive.add_bytes(name, {all.size()}, all);
  archive.add(name + "_ends", {ends.size()}, ends);
}

}  // namespace

Result<std::string, AlgebraError> write_npz(const Artifacts& artifacts) {
  const Selection selection = selection_of(artifacts);
  const std::size_t tools = artifacts.tools.size();
  const std::size_t cycles = selection.size();
  const std::size_t most = row_count_max(selection);
  const std::size_t calls = artifacts.q.size();
  if (tools > 0 && (calls > array_bytes_max / tools || cycles * most > array_bytes_max / tools)) {
    return failure(AlgebraError{fmt::format("{} calls of {} tools are too many for dense arrays", calls, tools)});
  }
  std::vector<std::size_t> numbers(calls);
  std::iota(numbers.begin(), numbers.end(), std::size_t{1});
  const Matrix<std::size_t> arranged = arrange<std::size_t>(selection, numbers, 0);

  Archive archive;
  archive.add("m", {cycles}, row_counts(selection));
  archive.add("mu", {}, std::vector{most});
  archive.add("J", {calls}, call_sequence(selection));
  add_masks(archive, "S", {calls, tools}, {selection_mask(selection, tools)});
  add_masks(archive, "Sigma", {cycles, most, tools}, selection_tensor(selection, tools));
  archive.add("sigma", {cycles, most}, tool_indices(selection).cells());
  archive.add("theta", {cycles, most}, arranged.cells());
  archive.add("rho", {cycles, most}, arranged.cells());
  archive.add("R", {calls, tools}, result_matrix<std::size_t>(selection, tools, numbers, 0).cells());
  std::vector<std::string> texts;
  for (const Tool& tool : artifacts.tools) texts.push_back(write_tool(tool));
  add_texts(archive, "tools", texts);
  texts.clear();
  for (const Query& query : artifacts.q) texts.push_back(write_query(query));
  add_texts(archive, "q", texts);
  texts.clear();
  for (const CallResult& result : artifacts.r) texts.push_back(write_call_result(result));
  add_texts(archive, "r", texts);
  return archive.finish();
}

}  // namespace tenon::algebra
