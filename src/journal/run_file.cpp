#include "journal/run_file.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "base/utf8.h"
#include "base/wire.h"
#include "journal/batch.h"

namespace tenon::journal {
namespace {

constexpr std::string_view magic = "TENONRUN";

enum FileField : std::uint32_t { FormatField = 1, HeadField = 2, BatchField = 3, ContentField = 4, DigestField = 5 };
/// The digest is the file's last field: its key, its length (one byte each) and itself.
constexpr std::size_t digest_field_size = 2 + Hash::size;

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}

std::int64_t from_zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1U));
}

wire::Writer encode_head(const RunHead& head) {
  wire::Writer writer;
  writer.present_field(1, std::string_view(head.run.text));
  writer.field(2, head.epoch);
  writer.field(3, head.records);
  writer.present_field(4, head.chain.view());
  writer.field(5, zigzag(head.created_at));
  writer.field(6, static_cast<std::uint64_t>(head.summary.state));
  writer.field(7, std::string_view(head.summary.title));
  writer.field(8, std::string_view(head.summary.detail));
  if (head.summary.wake_at) writer.present_field(9, zigzag(*head.summary.wake_at));
  writer.field(10, zigzag(head.summary.updated_at));
  return writer;
}

Hash read_hash(wire::Reader& reader) {
  const auto hash = Hash::from_bytes(reader.bytes_value());
  if (!hash) reader.reject();
  return hash.value_or(Hash{});
}

/// SQLite's integers have a sign.
std::uint64_t read_count(wire::Reader& reader) {
  return reader.value_up_to(INT64_MAX);
}

bool decode_head(std::string_view bytes, RunHead& head) {
  wire::Reader reader(bytes);
  std::uint32_t last = 0;
  while (reader.next_field()) {
    if (reader.number() == last) reader.reject();
    last = reader.number();
    switch (last) {
      case 1:
        head.run.text = reader.bytes_value();
        break;
      case 2:
        head.epoch = read_count(reader);
        break;
      case 3:
        head.records = read_count(reader);
        break;
      case 4:
        head.chain = read_hash(reader);
        break;
      case 5:
        head.created_at = from_zigzag(reader.value());
        break;
      case 6:  // a forgotten run has nothing to export
        head.summary.state = static_cast<RunState>(reader.value_up_to(static_cast<std::uint64_t>(RunState::Cancelled)));
        break;
      case 7:
        head.summary.title = reader.bytes_value();
        break;
      case 8:
        head.summary.detail = reader.bytes_value();
        break;
      case 9:
        head.summary.wake_at = from_zigzag(reader.value());
        break;
      case 10:
        head.summary.updated_at = from_zigzag(reader.value());
        break;
      default:
        reader.reject();
    }
  }
  return reader.is_good() && is_run_name(head.run.text) &&
         find_invalid_utf8(head.summary.title) == std::string_view::npos &&
         find_invalid_utf8(head.summary.detail) == std::string_view::npos;
}

bool decode_content(std::string_view bytes, Content& content) {
  wire::Reader reader(bytes);
  while (reader.next_field()) {
    if (reader.number() == 1) {
      content.bytes = reader.bytes_value();
    } else if (reader.number() == 2) {
      content.refers.push_back(read_hash(reader));
    } else {
      reader.reject();
    }
  }
  content.hash = sha256(content.bytes);
  return reader.is_good();
}

auto broken_file(std::string message) {
  return failure(StoreError{StoreError::Kind::Damaged, "the run's file is damaged: " + std::move(message)});
}

/// Every reference leads to a content of the file, and every content is referred to.
Result<void, StoreError> check_references(const RunFile& file) {
  std::unordered_map<Hash, const Content*> contents;
  for (const Content& content : file.contents)
    if (!contents.emplace(content.hash, &content).second)
      return broken_file(fmt::format("content {} is in it twice", content.hash.hex()));
  std::unordered_set<Hash> reached;
  std::vector<Hash> open;
  for (const RunFileBatch& batch : file.batches)
    open.insert(open.end(), batch.references.begin(), batch.references.end());
  while (!open.empty()) {
    const Hash hash = open.back();
    open.pop_back();
    if (!reached.insert(hash).second) continue;
    const auto content = contents.find(hash);
    if (content == contents.end()) return broken_file(fmt::format("content {} is missing", hash.hex()));
    open.insert(open.end(), content->second->refers.begin(), content->second->refers.end());
  }
  if (reached.size() != contents.size()) return broken_file("nothing refers to some of its contents");
  return {};
}

}  // namespace

std::string encode_run_file(const RunFile& file) {
  wire::Writer writer;
  writer.raw(magic);
  writer.present_field(FormatField, run_file_format);
  writer.present_field(HeadField, encode_head(file.head));
  Hash chain = chain_start(file.head.run);
  for (const RunFileBatch& batch : file.batches) {
    const EncodedBatch encoded = encode_batch(chain, batch.records, batch.references);
    chain = encoded.chain;
    writer.present_field(BatchField, std::string_view(encoded.bytes));
  }
  for (const Content& content : file.contents) {
    wire::Writer inner;
    inner.field(1, std::string_view(content.bytes));
    for (const Hash& hash : content.refers) inner.present_field(2, hash.view());
    writer.present_field(ContentField, inner);
  }
  const Hash digest = sha256(writer.view());
  writer.present_field(DigestField, digest.view());
  return writer.take();
}

Result<RunFile, StoreError> decode_run_file(std::string_view bytes) {
  const auto no_such_file = [](std::string message) {
    return failure(StoreError{StoreError::Kind::Format, std::move(message)});
  };
  if (!bytes.starts_with(magic)) return no_such_file("it is not a run export");
  wire::Reader reader(bytes.substr(magic.size()));
  // The format is looked at before anything else, so that a newer file is reported as such.
  if (!reader.next_field() || reader.number() != FormatField) return broken_file("it has no format");
  const std::uint64_t format = reader.value();
  if (!reader.is_good()) return broken_file("it has no format");
  if (format != run_file_format)
    return no_such_file(fmt::format(
        "the run's file has format {}, and this Tenon reads {}; use the Tenon that wrote it", format, run_file_format));
  if (bytes.size() < magic.size() + digest_field_size) return broken_file("it ends too early");
  const Hash digest = sha256(bytes.substr(0, bytes.size() - digest_field_size));
  if (bytes.substr(bytes.size() - Hash::size) != digest.view())
    return broken_file("it was altered or truncated: its digest does not match");

  RunFile file;
  std::size_t heads = 0;
  std::size_t digests = 0;
  Hash chain;
  std::uint64_t records = 0;
  while (reader.next_field()) {
    switch (reader.number()) {
      case HeadField:
        if (++heads != 1 || !decode_head(reader.bytes_value(), file.head))
          return broken_file("its head cannot be read");
        chain = chain_start(file.head.run);
        break;
      case BatchField: {
        if (heads == 0) return broken_file("it has no head");
        const auto batch = decode_batch(chain, reader.bytes_value());
        if (!batch)
          return broken_file(fmt::format("record {}: {}", records + batch.error().record + 1, batch.error().what));
        file.batches.push_back({{batch->records.begin(), batch->records.end()}, batch->references});
        chain = batch->chain;
        records += batch->records.size();
        break;
      }
      case ContentField: {
        Content content;
        if (!decode_content(reader.bytes_value(), content))
          return broken_file(fmt::format("content number {} cannot be read", file.contents.size() + 1));
        file.contents.push_back(std::move(content));
        break;
      }
      case DigestField:
        static_cast<void>(reader.bytes_value());
        ++digests;
        break;
      default:
        return broken_file(fmt::format("it has a field {}, which this format does not have", reader.number()));
    }
  }
  if (!reader.is_good() || heads != 1 || digests != 1) return broken_file("its frame cannot be read");
  if (records != file.head.records || chain != file.head.chain) return broken_file("its records do not match its head");
  if (auto done = check_references(file); !done) return failure(done.error());
  return file;
}

}  // namespace tenon::journal
