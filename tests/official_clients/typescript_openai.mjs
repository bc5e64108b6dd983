// The `openai` package of npm.
import { check, load, runTests, token, url } from "./support.mjs";

const OpenAI = load("openai").OpenAI ?? load("openai");
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token });

const said = (text) => [{ role: "user", content: text }];
const ask = (model, text, options = {}, request = {}) =>
  client.chat.completions.create({ model, messages: said(text), ...options }, request);

async function textOf(stream) {
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  return text;
}

async function failure(kind, call) {
  try {
    await call();
  } catch (error) {
    check(error instanceof kind && error.constructor === kind, "another error:", String(error));
    return error;
  }
  throw new Error(`no ${kind.name}`);
}

async function countRuns() {
  const reply = await fetch(`${url}/v1/runs`, { headers: { Authorization: `Bearer ${token}` } });
  return (await reply.json()).runs.length;
}

await runTests("typescript_openai", {
  async models() {
    const names = [];
    for await (const model of client.models.list()) names.push(model.id);
    check(names.sort().join() === "Desk,tell", names);
  },
  async anAnswer() {
    const completion = await ask("tell", "owls");
    check(completion.choices[0].message.content === "Owls fly.", completion);
    check(completion.usage.total_tokens === completion.usage.prompt_tokens + completion.usage.completion_tokens);
  },
  async aStream() {
    check((await textOf(await ask("tell", "owls", { stream: true }))) === "Owls fly.");
    const helper = client.chat.completions.stream({ model: "tell", messages: said("owls"), stream_options: { include_usage: true } });
    check((await helper.finalContent()) === "Owls fly.");
    check((await helper.totalUsage()).total_tokens > 0);
  },
  async aConversationWithAQuestion() {
    const options = { conversation: "of-typescript" };
    check((await ask("Desk", "hello", options)).choices[0].message.content === "turn 1: hello");
    const asked = await ask("Desk", "refund", options);
    check(asked.choices[0].message.content === "How much?" && asked.wait.schema.type === "integer", asked);
    const wrong = await failure(OpenAI.UnprocessableEntityError, () => ask("Desk", "lots", options));
    check(wrong.code === "wrong_input", wrong);
    const request = { headers: { "X-Tenon-Conversation": "of-typescript" } };
    check((await textOf(await ask("Desk", "12", { stream: true }, request))) === "refunded 12");
  },
  async aResponse() {
    const response = await client.responses.create({ model: "tell", input: "owls" });
    check(response.output_text === "Owls fly." && response.status === "completed", response);
    check((await client.responses.retrieve(response.id)).output_text === "Owls fly.");
    const refused = await failure(OpenAI.BadRequestError, () =>
      client.responses.create({ model: "tell", input: "x", tools: [{ type: "web_search" }] }));
    check(refused.param === "tools" && refused.code === "unsupported_value", refused);
    let text = "";
    for await (const event of await client.responses.create({ model: "tell", input: "owls", stream: true })) {
      if (event.type === "response.output_text.delta") text += event.delta;
    }
    check(text === "Owls fly.", text);
  },
  async aConversationOfResponses() {
    const first = await client.responses.create({ model: "Desk", input: "hello" });
    const stream = client.responses.stream({ model: "Desk", input: "refund", previous_response_id: first.id });
    const asked = await stream.finalResponse();
    check(asked.output_text === "How much?" && asked.wait.schema.type === "integer", asked);
    const last = await client.responses.create({ model: "Desk", input: "12", previous_response_id: asked.id });
    check(last.output_text === "refunded 12" && last.previous_response_id === asked.id, last);
    const resting = await client.responses.create({ model: "Desk", input: "rest", previous_response_id: last.id, background: true });
    check(resting.status === "in_progress", resting);
    check((await client.responses.cancel(resting.id)).status === "cancelled");
  },
  async whatIsRefused() {
    const before = await countRuns();
    const unknown = await failure(OpenAI.NotFoundError, () => ask("unknown", "x"));
    check(unknown.code === "model_not_found" && unknown.status === 404, unknown);
    const stranger = new OpenAI({ baseURL: `${url}/v1`, apiKey: "another-key" });
    await failure(OpenAI.AuthenticationError, () => stranger.models.list());
    const rest = await fetch(`${url}/v1/runs`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ agent: "Desk", input: "rest" }),
    });
    const { run } = await rest.json();
    const conflict = await failure(OpenAI.ConflictError, () => ask("Desk", "now", { conversation: run }));
    check(conflict.status === 409 && /turn/.test(conflict.message), conflict);
    check((await countRuns()) === before + 1);
  },
  async aTurnThatFails() {
    const before = await countRuns();
    const failed = await failure(OpenAI.InternalServerError, () => ask("Desk", "fail"));
    check(failed.code === "Arithmetic", failed);
    check((await countRuns()) === before + 1, "it was sent again");
    const stream = await ask("Desk", "fail", { stream: true });
    const error = await failure(OpenAI.APIError, () => textOf(stream));
    check(error.code === "Arithmetic", error);
  },
});
