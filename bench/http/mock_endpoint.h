#pragma once

namespace tenon::bench {

/// Serves an OpenAI-compatible endpoint on a free port of 127.0.0.1, prints its URL on a line, and goes on until the
/// standard input ends, ten minutes at most. A typed request is answered with the simplest value that its schema
/// allows, others with `ok`.
///   POST [/dMS]/v1/chat/completions   MS: milliseconds before the reply
///   GET /stats                        requests, handler_ns, first_request_ns (since the epoch), in_progress_max
///   GET /reset                        begins these counts anew
void run_mock_endpoint();

}  // namespace tenon::bench
