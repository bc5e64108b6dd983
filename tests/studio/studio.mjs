// A `tenon studio` and a browser for a test, and its screens.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const load = createRequire(`${process.env.STUDIO_PACKAGES}/`);
const { chromium } = load("playwright-core");
const axe = readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");
/** For everything that must happen: only a test that fails takes that long. */
export const patience = 30_000;

/** A studio on the programs of a new folder. `files`: their texts, by name. */
export class Studio {
  constructor(files, script) {
    this.folder = mkdtempSync(join(tmpdir(), "tenon_studio_"));
    this.files = Object.keys(files);
    for (const [name, text] of Object.entries(files)) this.write(name, text);
    this.write("model.script", script);
    this.port = 0;
  }

  read(name) {
    return readFileSync(join(this.folder, name), "utf8");
  }

  write(name, text) {
    writeFileSync(join(this.folder, name), text);
  }

  /** The address that it prints. A restart listens on the same port. */
  async start() {
    const words = ["studio", ...this.files, "--store", "runs.store", "--model", "script:model.script", "--no-open"];
    this.process = spawn(process.env.TENON, [...words, "--durability", "process", "--port", `${this.port}`], { cwd: this.folder });
    let printed = "";
    this.process.stderr.on("data", (data) => (printed += data));
    for await (const line of createInterface({ input: this.process.stdout })) {
      const found = /^studio at (http:\/\/127\.0\.0\.1:(\d+)\/#token=\w+)$/.exec(line);
      if (!found) continue;
      this.port = Number(found[2]);
      this.address = found[1];
      return this.address;
    }
    throw new Error(`the studio did not start: ${printed}`);
  }

  async stop(signal = "SIGTERM") {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, "exit");
    this.process.kill(signal);
    await ended;
  }

  /** A request that the page might send. */
  async ask(path, options = {}) {
    const token = this.address.split("token=")[1];
    const headers = { Accept: "application/json", Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, { headers, ...options });
    return response.json();
  }

  /** The recorded events of a run, up to the first thousand. */
  events(run) {
    return this.ask(`/v1/runs/${run}/events`);
  }

  async close() {
    await this.stop("SIGKILL");
    rmSync(this.folder, { recursive: true });
  }
}

let browser;

/** A page of the studio, in a profile of its own. `test.complaints` has what the browser's console said against it. */
export async function openPage(studio, { scheme = "light", size = { width: 1360, height: 850 }, address = studio.address } = {}) {
  browser ??= await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] }); // as root, in tests
  const context = await browser.newContext({ viewport: size, colorScheme: scheme });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  page.complaints = [];
  page.on("console", (message) => {
    const isExpected = /Failed to load resource|ERR_|Content Security Policy directive/.test(message.text());
    if (message.type() === "error" && !isExpected) page.complaints.push(message.text());
  });
  page.on("pageerror", (error) => page.complaints.push(error.stack));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      // Chromium's own editing, which no script does, tries to keep the style of a text that is replaced.
      const isEditing = event.violatedDirective === "style-src-attr" && !event.sourceFile;
      if (!isEditing) console.error(`against the policy: ${event.violatedDirective} ${event.sourceFile}:${event.lineNumber}`);
    });
  });
  await page.goto(address);
  return page;
}

export async function closeBrowser() {
  await browser?.close();
}

/** Waits until a condition holds; `what` is the value that it looks at. */
export async function until(what, holds = Boolean) {
  const end = Date.now() + patience;
  for (;;) {
    const value = await what();
    if (holds(value)) return value;
    assert.ok(Date.now() < end, `in vain: ${what} is ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Fails for what axe finds against WCAG 2.2 A and AA. */
export async function checkAccess(page) {
  await page.evaluate(axe);
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const { violations } = await page.evaluate(async (runOnly) => globalThis.axe.run(document, { runOnly }), tags);
  const found = violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`);
  assert.deepEqual(found, [], page.url());
}

/** The picture of a screen, if TENON_SCREENSHOTS names a folder; of those that TENON_SCREENSHOT_NAMES lists, if it does. */
export async function picture(page, name) {
  const folder = process.env.TENON_SCREENSHOTS;
  const names = process.env.TENON_SCREENSHOT_NAMES?.split(" ");
  if (!folder || (names && !names.includes(name))) return;
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 82 });
  writeFileSync(join(folder, `${process.env.TENON_SCREENSHOT_PREFIX ?? ""}${name}.webp`), Buffer.from(data, "base64"));
  await session.detach();
}

/** Runs each test whose name contains one of the wanted ones, or all; reports a failure and continues with the others. */
export async function runTests(tests, wanted) {
  const chosen = Object.entries(tests).filter(([name]) => wanted.length === 0 || wanted.some((one) => name.includes(one)));
  for (const [name] of chosen) console.log(`chosen ${name}`);
  for (const [name, test] of chosen) {
    const closing = [];
    try {
      await test(closing);
      console.log(`ok ${name}`);
    } catch (error) {
      console.log(`not ok ${name}: ${error?.stack ?? error}`.replaceAll("\n", " | "));
    }
    for (const close of closing.reverse()) await close();
  }
  await closeBrowser();
}
