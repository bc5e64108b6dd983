// Measures the page with the browser and the helpers of its tests. The last line is a JSON object: milliseconds by name.
import { closeBrowser, openPage, patience, Studio, until } from "../../tests/studio/studio.mjs";

const keyCount = 40;
const panSteps = 60;
const eventCount = 20_000;
const waitCount = 20;

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

/** An agent of so many blocks with 1.5 edges each, which lead at most 12 blocks ahead. */
function graphOf(count) {
  const blocks = [];
  for (let at = 0; at < count; ++at) {
    const targets = new Set([at + 1, ...(at % 2 === 0 ? [at + 2 + ((at * 7) % 11)] : [])].filter((one) => one < count));
    const edges = [...targets].map((target) => `        to step_${target}: "way ${target}"\n`).join("");
    blocks.push(
      edges ? `    block step_${at}: route {\n        prompt: "Where from ${at}?"\n${edges}    }\n` : `    block step_${at}: emit { text: "end" }\n`,
    );
  }
  return `agent Long {\n${blocks.join("\n")}}\n`;
}

/** Blocks that wait for an answer, one after the other. */
function waitingAgent() {
  const blocks = [];
  for (let at = 0; at < waitCount; ++at) {
    blocks.push(`    block wait_${at}: call {\n        call: wait_for(input)\n        into: state.answer\n        -> wait_${at + 1}\n    }\n`);
  }
  blocks.push(`    block wait_${waitCount}: emit { text: "end" }\n`);
  return `agent Waiting {\n    state { answer: Boolean = false }\n${blocks.join("\n")}}\n\nfn wait_for(input: String) -> Boolean { ask<Boolean>("{{ input }}?") }\n`;
}

const manyEvents = `agent Many {
    fn turn(ctx: Context, input: String) -> String {
        for number in 0..${eventCount} { emit("message {{ number }}") }
        "end"
    }
}
`;

const files = { "graph.tn": graphOf(200), "large.tn": graphOf(500), "waiting.tn": waitingAgent(), "many.tn": manyEvents };

async function openProgram(page, name) {
  await page.getByRole("navigation", { name: "Studio" }).getByRole("link", { name, exact: true }).click();
  await page.getByRole("textbox", { name: "Program text" }).waitFor();
}

/** From a key in a block's name to its box with the new name, and the problem of an edge that leads nowhere. */
async function measureKeys(page) {
  await openProgram(page, "graph");
  await page.getByRole("treeitem", { name: "step_100, route" }).waitFor();
  await page.getByRole("textbox", { name: "Program text" }).focus();
  await page.keyboard.press("Control+f");
  const field = page.getByRole("textbox", { name: "Find" });
  await field.pressSequentially("block step_100");
  await field.press("Enter");
  await field.press("Escape");
  await page.keyboard.press("ArrowRight");
  const times = [];
  for (let round = 0; round < keyCount; ++round) {
    const [key, path, hasProblem] = round % 2 === 0 ? ["x", "step_100x", true] : ["Backspace", "step_100", false];
    await page.evaluate(
      ([wanted, problem]) => {
        globalThis.measured = new Promise((done) => {
          let begin = 0;
          addEventListener("keydown", () => (begin = performance.now()), { capture: true, once: true });
          const isThere = () =>
            document.querySelector(`.tree [data-path="${wanted}"]`) !== null && (document.querySelector(".problem-item") !== null) === problem;
          const observer = new MutationObserver(() => {
            if (begin === 0 || !isThere()) return;
            observer.disconnect();
            requestAnimationFrame(() => done(performance.now() - begin));
          });
          observer.observe(document.body, { subtree: true, childList: true, attributes: true });
        });
      },
      [path, hasProblem],
    );
    await page.keyboard.press(key);
    times.push(await page.evaluate(() => globalThis.measured));
  }
  return percentile(times, 0.95);
}

async function measureMoving(page) {
  await openProgram(page, "large");
  await page.getByRole("treeitem", { name: "step_499, emit" }).waitFor();
  const box = await page.locator(".graph-frame").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.evaluate(() => {
    globalThis.frames = [];
    let before = performance.now();
    const next = (now) => {
      globalThis.frames.push(now - before);
      before = now;
      globalThis.request = requestAnimationFrame(next);
    };
    globalThis.request = requestAnimationFrame(next);
  });
  for (let step = 0; step < panSteps; ++step) await page.mouse.wheel(step % 3, step < panSteps / 2 ? 120 : -120);
  const frames = await page.evaluate(() => {
    cancelAnimationFrame(globalThis.request);
    return globalThis.frames.slice(1);
  });
  return percentile(frames, 0.95);
}

/** From the time of an event, which the server has written, to the block in which it says that the run is. */
async function measureLit(studio, page) {
  const { run } = await studio.ask("/v1/runs", { method: "POST", body: JSON.stringify({ agent: "Waiting", input: "go" }) });
  await page.evaluate((name) => (location.hash = `#/runs/${name}`), run);
  await page.getByRole("treeitem", { name: "wait_0, call" }).waitFor();
  await page.evaluate(() => {
    globalThis.lit = {};
    new MutationObserver(() => {
      for (const block of document.querySelectorAll('[aria-current="step"]')) globalThis.lit[block.dataset.path] ??= Date.now();
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  for (let at = 0; at < waitCount; ++at) {
    const [wait] = await until(async () => (await studio.ask(`/v1/runs/${run}`)).waits ?? [], (waits) => waits.length === 1);
    await studio.ask(`/v1/runs/${run}/resume`, { method: "POST", body: JSON.stringify({ wait: wait.wait, input: true }) });
    if (at + 1 === waitCount) break;
    await page.waitForFunction((path) => globalThis.lit[path] !== undefined, `wait_${at + 1}`, { timeout: patience });
  }
  const lit = await page.evaluate(() => globalThis.lit);
  const token = studio.address.split("token=")[1];
  const events = await studio.ask(`/v1/runs/${run}/events?limit=1000`, { headers: { Accept: "application/json", Authorization: `Bearer ${token}` } });
  const times = events
    .filter((event) => event.type === "block_entered" && event.path !== "wait_0" && lit[event.path] !== undefined)
    .map((event) => Math.max(0, lit[event.path] - event.time));
  if (times.length < waitCount / 2) throw new Error(`only ${times.length} blocks were seen lit`);
  return percentile(times, 0.95);
}

async function measureOpening(studio, page) {
  const { run } = await studio.ask("/v1/runs", { method: "POST", body: JSON.stringify({ agent: "Many", input: "go" }) });
  await until(async () => (await studio.ask(`/v1/runs/${run}`)).state, (state) => state === "idle");
  return page.evaluate(async (name) => {
    const begin = performance.now();
    location.hash = `#/runs/${name}`;
    for (;;) {
      await new Promise((done) => requestAnimationFrame(done));
      const grid = document.querySelector('[role="grid"]');
      if (Number(grid?.getAttribute("aria-rowcount")) >= 20_000 && grid.querySelector('[role="row"]')) return performance.now() - begin;
      if (performance.now() - begin > 30_000) throw new Error("the events did not appear");
    }
  }, run);
}

const studio = new Studio(files, '* => "end"\n');
try {
  await studio.start();
  const page = await openPage(studio);
  const figures = {
    "key to graph and problems, 200 blocks, p95": await measureKeys(page),
    "frame while moving 500 blocks, p95": await measureMoving(page),
    "event to lit block, p95": await measureLit(studio, page),
    "opening a run of 20,000 events": await measureOpening(studio, page),
  };
  console.log(JSON.stringify(figures));
} finally {
  await closeBrowser();
  await studio.close();
}
