#pragma once

namespace tenon::bench {

/// Serves an OpenAI-compatible endpoint on a free port of 127.0.0.1 and prints its URL. Stops when the standard input
/// ends, or after ten minutes. A typed request is answered with the simplest value that its schema allows, any other
/// with `ok`.
///   POST [/dMS]/v1/chat/completions   MS: milliseconds before the reply
///   GET /stats                        requests, handler_ns, first_request_ns (since the epoch), in_progress_max
///   GET /reset                        resets these counts
void run_mock_endpoint();

}  // namespace tenon::bench
