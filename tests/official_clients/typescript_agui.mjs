// The `@ag-ui/client` package of npm. It parses leniently, so each event is also checked against its strict schema.
import { check, load, runTests, token, url } from "./support.mjs";

const { HttpAgent, buildResumeArray } = load("@ag-ui/client");
const { EventSchema } = load("@ag-ui/core/schemas");

class Thread {
  constructor(agent, name) {
    this.agent = new HttpAgent({ url: `${url}/agui/${agent}`, threadId: name, headers: { Authorization: `Bearer ${token}` } });
  }

  /** Runs once; checks the events and keeps them in `events`. */
  async run(parameters = {}) {
    this.events = [];
    return this.agent.runAgent(parameters, { onEvent: ({ event }) => void this.events.push(event) }).finally(() => {
      for (const event of this.events) EventSchema.parse(event);
    });
  }

  async say(text) {
    this.agent.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
    const result = await this.run();
    const types = this.events.map((event) => event.type);
    check(types[0] === "RUN_STARTED" && ["RUN_FINISHED", "RUN_ERROR"].includes(types.at(-1)), types);
    return result;
  }

  async answer(responses) {
    return this.run({ resume: buildResumeArray(this.agent.pendingInterrupts, responses) });
  }
}

async function failure(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("no error");
}

const answered = (payload) => ({ status: "resolved", payload });

await runTests("typescript_agui", {
  async aThread() {
    const thread = new Thread("Desk", "one");
    const { result, newMessages } = await thread.say("hello");
    check(result === "turn 1: hello", result);
    check(newMessages.length === 1 && newMessages[0].role === "assistant" && newMessages[0].content === result, newMessages);
    check(thread.agent.state.turns === 1, thread.agent.state);
    check((await thread.say("again")).result === "turn 2: again" && thread.agent.state.turns === 2);
    check(thread.agent.messages.length === 4, thread.agent.messages);
  },
  async aStreamedAnswer() {
    const thread = new Thread("tell", "one");
    check((await thread.say("owls")).result === "Owls fly.");
    const { usage } = thread.events.at(-1);
    check(usage.length === 1 && usage[0].totalTokens > 0, usage);
  },
  async aQuestion() {
    const thread = new Thread("Desk", "question");
    await thread.say("refund");
    const [interrupt] = thread.agent.pendingInterrupts;
    check(interrupt.message === "How much?" && interrupt.responseSchema.type === "integer", interrupt);
    check(thread.agent.messages.at(-1).content === "How much?", thread.agent.messages);
    const wrong = await failure(() => thread.answer({ [interrupt.id]: answered("lots") }));
    check(wrong.status === 422 || /422/.test(wrong.message), String(wrong));
    check((await thread.answer({ [interrupt.id]: answered(12) })).result === "refunded 12");
    check(thread.agent.pendingInterrupts.length === 0);
  },
  async twoQuestions() {
    const thread = new Thread("Desk", "two");
    await thread.say("both");
    const [first, second] = thread.agent.pendingInterrupts.toSorted((a, b) => a.message.localeCompare(b.message));
    const { result } = await thread.answer({ [first.id]: answered(1), [second.id]: answered("yes") });
    check(result === "1 yes", result);
  },
  async anUnansweredQuestion() {
    const thread = new Thread("Desk", "unknown");
    await thread.say("soon");
    const [interrupt] = thread.agent.pendingInterrupts;
    check(new Date(interrupt.expiresAt) > new Date(), interrupt);
    await thread.answer({ [interrupt.id]: { status: "cancelled" } });
    check(thread.events.at(-1).outcome.type === "cancelled", thread.events);
    check((await thread.say("on")).result.endsWith(": on"));
  },
  async toolCalls() {
    const thread = new Thread("Desk", "tools");
    await thread.say("clock");
    const call = thread.agent.messages.find((message) => message.toolCalls?.length > 0)?.toolCalls[0];
    check(call?.function.name === "sleep" && JSON.parse(call.function.arguments).milliseconds === 5, thread.agent.messages);
    check(thread.agent.messages.some((message) => message.role === "tool" && message.toolCallId === call.id));
  },
  async aFailedTurn() {
    const thread = new Thread("Desk", "fails");
    // The client reports it with the event, and continues.
    await thread.say("fail");
    check(thread.events.at(-1).type === "RUN_ERROR" && thread.events.at(-1).code === "Arithmetic", thread.events);
    check(thread.events.at(-1).message.length > 0 && !thread.agent.isRunning);
    check((await thread.say("on")).result.endsWith(": on"));
  },
  async whatIsRefused() {
    const error = await failure(() => new Thread("unknown", "x").say("hello"));
    check(error.status === 404 || /404/.test(error.message), String(error));
  },
});
