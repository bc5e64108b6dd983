#include "inference/llama_cpp/engine.h"

#include <fmt/format.h>
#include <gguf.h>
#include <llama.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/counted.h"
#include "base/ensure.h"

namespace tenon::inference::llama_cpp {
namespace {

/// Rows in one evaluation. llama.cpp's attention has another summation order from 64 rows on.
constexpr std::uint32_t rows_same_bits_max = 63;
constexpr std::uint32_t rows_fast_max = 512;
constexpr std::uint32_t cells_multiple = 256;  // llama.cpp's own granularity

/// What llama.cpp has one of in a process: its settings for all models, and its log.
class ProcessState final {
 public:
  static ProcessState& get() {
    static ProcessState state;
    return state;
  }
  void send_to(std::function<void(std::string_view)> receiver) {
    const std::lock_guard lock(mutex_);
    receiver_ = std::move(receiver);
    errors_.clear();
  }
  /// What was logged as an error since the receiver was set.
  std::string take_errors() {
    const std::lock_guard lock(mutex_);
    return std::exchange(errors_, {});
  }

 private:
  ProcessState() {
    // llama.cpp reads this once in a process, at the first matrix product: from 8 rows on, its tiled kernels for
    // K-quants sum in another order than its kernels for fewer rows.
    ::setenv("GGML_CPU_TILED_MM", "0", /*overwrite=*/0);
    llama_backend_init();
    llama_log_set(&ProcessState::receive, this);
  }
  static void receive(ggml_log_level level, const char* text, void* self) {
    auto& state = *static_cast<ProcessState*>(self);
    const std::lock_guard lock(state.mutex_);
    if (level == GGML_LOG_LEVEL_ERROR && state.errors_.size() < 2000) state.errors_ += text;
    if (state.receiver_) state.receiver_(text);
  }

  std::mutex mutex_;
  std::function<void(std::string_view)> receiver_;
  std::string errors_;
};

/// What llama.cpp has logged of its newest failure, without a newline at the end.
std::string take_reason() {
  std::string reason = ProcessState::get().take_errors();
  while (!reason.empty() && reason.back() == '\n') reason.pop_back();
  return reason;
}

EngineError describe_failure(const EngineOptions& options, std::string_view what) {
  const std::string reason = take_reason();
  return EngineError{fmt::format("{} {}{}{}", options.file.string(), what, reason.empty() ? "." : ": ", reason)};
}

std::string read_metadata(const llama_model* model, const char* key) {
  std::string value(256, '\0');
  const std::int32_t size = llama_model_meta_val_str(model, key, value.data(), value.size());
  value.resize(size < 0 ? 0 : std::min(static_cast<std::size_t>(size), value.size() - 1));
  return value;
}

std::uint32_t round_up_to_cells(std::uint32_t tokens) {
  return (tokens + cells_multiple - 1) / cells_multiple * cells_multiple;
}

}  // namespace

Result<void, EngineError> check_tensors(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  if (error) return failure(EngineError{fmt::format("cannot be read: {}", error.message())});
  static_cast<void>(ProcessState::get().take_errors());
  const std::unique_ptr<gguf_context, decltype(&gguf_free)> header(
      gguf_init_from_file(file.c_str(), {.no_alloc = true, .ctx = nullptr}), &gguf_free);
  const std::string reason = take_reason();
  if (header == nullptr)
    return failure(EngineError{fmt::format("has a header that is damaged or cut off: {}", reason)});
  const std::int64_t count = gguf_get_n_tensors(header.get());
  // The first of several files may have the metadata only.
  if (count == 0 && gguf_find_key(header.get(), "split.count") < 0) {
    return failure(EngineError{"contains no tensors"});
  }
  std::uintmax_t end = gguf_get_data_offset(header.get());
  for (std::int64_t i = 0; i < count; ++i) {
    end = std::max<std::uintmax_t>(end, gguf_get_data_offset(header.get()) + gguf_get_tensor_offset(header.get(), i) +
                                            gguf_get_tensor_size(header.get(), i));
  }
  if (count > 0 && end > bytes) {
    return failure(EngineError{fmt::format("is cut off: it has {} of {} bytes", bytes, end)});
  }
  return {};
}

struct Engine::Batch {
  explicit Batch(std::uint32_t rows) : batch(llama_batch_init(static_cast<std::int32_t>(rows), 0, 1)) {}
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() { llama_batch_free(batch); }

  void append(const Row& row) {
    const auto i = static_cast<std::size_t>(batch.n_tokens++);
    batch.token[i] = row.token;
    batch.pos[i] = static_cast<llama_pos>(row.position);
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = row.sequence;
    batch.logits[i] = row.output == Row::Output::Logits ? 1 : 0;
  }

  llama_batch batch;
};

void Engine::ModelDeleter::operator()(llama_model* model) const {
  llama_model_free(model);
}
void Engine::ContextDeleter::operator()(llama_context* context) const {
  llama_free(context);
}

Result<std::unique_ptr<Engine>, EngineError> Engine::open(const EngineOptions& options) {
  ENSURE(options.threads > 0 && options.sequences > 0 && options.sequences <= EngineOptions::sequences_max);
  std::error_code error;
  if (!std::filesystem::is_regular_file(options.file, error)) {
    return failure(EngineError{fmt::format("There is no model file {}.", options.file.string())});
  }
  ProcessState::get().send_to(options.log);
  std::unique_ptr<Engine> engine(new Engine());
  const bool same_bits = options.determinism == Determinism::SameBits;

  llama_model_params model_options = llama_model_default_params();
  model_options.n_gpu_layers = 0;
  model_options.use_extra_bufts = !same_bits;  // repacked weights are summed in another order for several rows
  engine->model_.reset(llama_model_load_from_file(options.file.c_str(), model_options));
  const llama_model* model = engine->model_.get();
  if (model == nullptr) return failure(describe_failure(options, "is not a model that llama.cpp can load"));
  if (llama_model_has_encoder(model) || llama_model_is_diffusion(model) || !llama_model_has_decoder(model)) {
    return failure(describe_failure(options, "is not a model that generates text token by token"));
  }
  engine->vocabulary_ = std::make_unique<Vocabulary>(llama_model_get_vocab(model));
  if (engine->vocabulary_->size() == 0) return failure(describe_failure(options, "has no vocabulary"));

  const auto trained = static_cast<std::uint32_t>(std::max(llama_model_n_ctx_train(model), 1));
  engine->context_tokens_ = options.context_tokens != 0 ? std::min(options.context_tokens, trained)
                                                        : std::min(trained, EngineOptions::context_tokens_auto_max);
  engine->pads_lone_rows_ = same_bits && options.threads > 1;
  const std::uint32_t spare_cells = engine->pads_lone_rows_ ? 1 : 0;
  const std::uint32_t cells = round_up_to_cells(std::max(options.cache_tokens, engine->context_tokens_) + spare_cells);
  engine->rows_max_ = std::min(same_bits ? rows_same_bits_max : rows_fast_max, cells);
  engine->padding_sequence_ = static_cast<SequenceNumber>(options.sequences);
  engine->buried_sequence_ = engine->padding_sequence_ + 1;

  llama_context_params context_options = llama_context_default_params();
  context_options.n_ctx = cells;
  context_options.n_batch = engine->rows_max_;
  context_options.n_ubatch = engine->rows_max_;
  context_options.n_seq_max = options.sequences + 2;
  context_options.n_outputs_max = context_options.n_seq_max;  // one each, and not fewer than sequences
  context_options.n_threads = static_cast<std::int32_t>(options.threads);
  context_options.n_threads_batch = static_cast<std::int32_t>(options.threads);
  context_options.flash_attn_type = same_bits ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_AUTO;
  context_options.kv_unified = true;  // branches share cells instead of copying them
  context_options.swa_full = true;    // a return far back finds what a sliding window would have let go of
  context_options.no_perf = true;
  engine->context_.reset(llama_init_from_model(engine->model_.get(), context_options));
  if (engine->context_ == nullptr) {
    return failure(describe_failure(options, fmt::format("cannot be run with a cache of {} tokens", cells)));
  }
  engine->cache_options_.cells = llama_n_ctx(engine->context_.get()) - spare_cells;
  engine->cache_options_.sequences = options.sequences;
  engine->cache_options_.cut = llama_model_is_recurrent(model) || llama_model_is_hybrid(model)
                                   ? KvCacheOptions::Cut::Nowhere
                                   : KvCacheOptions::Cut::Anywhere;
  engine->cache_options_.order = same_bits ? KvCacheOptions::CellOrder::Ascending : KvCacheOptions::CellOrder::Any;
  engine->name_ = read_metadata(model, "general.name");
  if (const char* chat_template = llama_model_chat_template(model, nullptr)) engine->chat_template_ = chat_template;
  engine->batch_ = std::make_unique<Batch>(engine->rows_max_ + 1);
  return engine;
}

Engine::~Engine() = default;

Result<void, EngineError> Engine::evaluate(std::span<const Row> rows) {
  ENSURE(!rows.empty() && rows.size() <= rows_max_);
  batch_->batch.n_tokens = 0;
  for (const Row& row : rows) batch_->append(row);
  // Several threads would split the attention of a lone row among them, and sum it in another order.
  const bool padded = pads_lone_rows_ && rows.size() == 1;
  if (padded) batch_->append({.sequence = padding_sequence_, .position = 0, .token = rows[0].token, .output = {}});
  const std::int32_t code = llama_decode(context_.get(), batch_->batch);
  if (padded) llama_memory_seq_rm(llama_get_memory(context_.get()), padding_sequence_, -1, -1);
  if (code != 0) {
    std::string reason = ProcessState::get().take_errors();
    return failure(EngineError{
        fmt::format("llama.cpp could not evaluate {} (code {}). {}", counted(rows.size(), "token"), code, reason)});
  }
  return {};
}

std::span<const float> Engine::logits_of(std::size_t row) const {
  const float* logits = llama_get_logits_ith(context_.get(), static_cast<std::int32_t>(row));
  ENSURE(logits != nullptr);
  return {logits, vocabulary_->size()};
}

void Engine::share(SequenceNumber source, SequenceNumber target, std::uint32_t count) {
  llama_memory_seq_cp(llama_get_memory(context_.get()), source, target, 0, static_cast<llama_pos>(count));
}

bool Engine::truncate(SequenceNumber sequence, std::uint32_t count) {
  const auto first = count == 0 ? -1 : static_cast<llama_pos>(count);
  return llama_memory_seq_rm(llama_get_memory(context_.get()), sequence, first, -1);
}

bool Engine::is_whole(SequenceNumber sequence, std::uint32_t count) {
  llama_memory_t memory = llama_get_memory(context_.get());
  // A recurrent state has the position of its last token alone.
  const bool begins =
      cache_options_.cut == KvCacheOptions::Cut::Nowhere || llama_memory_seq_pos_min(memory, sequence) == 0;
  return begins && llama_memory_seq_pos_max(memory, sequence) == static_cast<llama_pos>(count) - 1;
}

void Engine::bury(SequenceNumber sequence, std::uint32_t first) {
  llama_memory_seq_cp(llama_get_memory(context_.get()), sequence, buried_sequence_, static_cast<llama_pos>(first), -1);
}

void Engine::clear() {
  llama_memory_clear(llama_get_memory(context_.get()), /*data=*/false);
}

}  // namespace tenon::inference::llama_cpp
