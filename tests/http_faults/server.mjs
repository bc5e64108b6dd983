// The servers for the tests in http_faults_test.cpp. Prints their base URLs on one line, and exits when its standard
// input is closed or after six minutes.
import fs from "node:fs";
import http2 from "node:http2";
import path from "node:path";

const { LLMock } = await import(process.env.AIMOCK);

const whole = { content: "the whole answer" };
const dropped = { response: whole, chaos: { dropRate: 1 } };
const disconnected = { response: whole, chaos: { disconnectRate: 1 } };
const failing = (status, error) => ({ response: { status, error } });

// A prompt that contains the name gets the steps in order, and then always the last one.
const stories = {
  "plain words": [{ response: { content: "wörter 🎉 \"quoted\"\n", usage: { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 } } }],
  "rate limited once": [{ response: { status: 429, error: { message: "slow down", type: "rate_limit_error" }, retryAfter: 1 } }, { response: whole }],
  "rate limited for ever": [{ response: { status: 429, error: { message: "slow down", type: "rate_limit_error" }, retryAfter: 0 } }],
  "whole: failing twice": [failing(500, { message: "internal", type: "server_error" }), failing(503, { message: "overloaded" }), { response: whole }],
  "streamed: failing twice": [failing(500, { message: "internal", type: "server_error" }), failing(503, { message: "overloaded" }), { response: whole }],
  "whole: dropped twice": [dropped, dropped, { response: whole }],
  "streamed: dropped twice": [dropped, dropped, { response: whole }],
  "whole: disconnected twice": [disconnected, disconnected, { response: whole }],
  "streamed: disconnected twice": [disconnected, disconnected, { response: whole }],
  "malformed": [{ response: whole, chaos: { malformedRate: 1 } }],
  "bad request": [failing(400, { message: "no such field", type: "invalid_request_error", param: "temperature" })],
  "forbidden": [failing(403, { message: "not for you" })],
  "too long": [failing(400, { message: "too many tokens", code: "context_length_exceeded" })],
  "cut off": [{ response: { content: "half of", finishReason: "length" } }],
  "filtered": [{ response: { content: "", finishReason: "content_filter" } }],
  "calls a tool": [{ response: { toolCalls: [{ name: "add", arguments: { a: 1 } }] } }],
  "truncated once": [{ response: { content: "x".repeat(400) }, truncateAfterChunks: 3, latency: 5 }, { response: whole }],
  "disconnected in time": [{ response: { content: "x".repeat(400) }, disconnectAfterMs: 40, latency: 10 }, { response: whole }],
  "slowly": [{ response: whole, streamingProfile: { ttft: 60, tps: 200 }, chunkSize: 2 }],
  "chaos": [{ response: whole, chaos: { dropRate: 0.2, disconnectRate: 0.2 } }],
};

const aimock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" });
aimock.addFixture({ match: { responseFormat: "json_schema", userMessage: "typed" }, response: { content: "{\"ok\":true}" } });
for (const [name, steps] of Object.entries(stories)) {
  steps.forEach((step, index) => {
    const match = { userMessage: name };
    if (index < steps.length - 1) match.sequenceIndex = index;
    aimock.addFixture({ match, ...step });
  });
}
const aimockUrl = await aimock.start();

// Answers each request with the number of connections so far.
let sessions = 0;
const multiplexing = http2.createSecureServer({
  key: fs.readFileSync(path.join(process.env.CERTIFICATES, "key.pem")),
  cert: fs.readFileSync(path.join(process.env.CERTIFICATES, "certificate.pem")),
});
multiplexing.on("session", () => ++sessions);
multiplexing.on("stream", (stream, headers) => {
  let body = "";
  stream.on("error", () => {});  // the resets below
  stream.setEncoding("utf8");
  stream.on("data", (piece) => (body += piece));
  stream.on("end", () => {
    const text = JSON.parse(body).messages.at(-1).content;
    if (text === "reset" && Math.random() < 0.5) return stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
    setTimeout(() => {
      stream.respond({ ":status": 200, "content-type": "application/json" });
      const message = { role: "assistant", content: `${headers[":method"]} ${sessions}` };
      stream.end(JSON.stringify({ model: "h2", choices: [{ index: 0, message, finish_reason: "stop" }] }));
    }, 5);
  });
});
multiplexing.listen(0, "127.0.0.1", () => {
  console.log(`${aimockUrl}/v1 https://localhost:${multiplexing.address().port}/v1`);
});

const end = () => process.exit(0);
process.stdin.resume().on("end", end);
setTimeout(end, 360_000);
