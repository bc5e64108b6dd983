// The studio, as a person uses it. Controls are found by the roles and names that assistive technology uses.
import assert from "node:assert/strict";
import { checkAccess, openPage, picture, runTests, Studio, until } from "./studio.mjs";

const desk = `/// Answers customers of a shop.
agent Desk {
    state {
        topic: String = ""
    }
    scratchpad {
        note: String = ""
    }

    instructions { "You are the desk of a shop. Be brief."! }

    /// Finds out what it is about.
    block find: request {
        prompt: "What is this about? One word."
        into: state.topic
        -> choose
    }

    block choose: route {
        when state.topic == "refund" -> refund
        else -> talk
    }

    block refund: call {
        call: allow(state.topic)
        into: scratchpad.note
        -> talk
    }

    // Keep this short.
    block talk: request {
        prompt: "Answer in one sentence. {{ scratchpad.note }}"
    }
}

fn allow(topic: String) -> String {
    if ask<Boolean>("Allow a refund about {{ topic }}?") { "It is allowed." } else { "It is not allowed." }
}
`;
const greet = `struct Visit { guests: i32, name: String }

fn greet(name: String, times: i32) -> String { "hello {{ name }}, {{ times }} times" }

fn visit(ctx: Context) -> String {
    let visit = ask<Visit>("Who comes?")
    "{{ visit.name }} and {{ visit.guests }} guests"
}
`;
const pursuit = `/// Writes a first version.
fn draft(ctx: Context, topic: Topic) -> Letter
    ensures "is a polite letter"
{
    "Write a letter"!
    topic!
}

/// Improves it.
fn review(ctx: Context, letter: Letter) -> Letter
    requires "is a polite letter"
    ensures "has no mistakes"
{
    "Improve this letter"!
    letter!
}

fn main(ctx: Context) -> Letter {
    pursue "has no mistakes" from Topic("holidays") limit 4 {
        draft(ctx, _)
        review(ctx, _)
    }
}
`;
const pursuing = `struct Topic { name: String }
struct Letter { text: String }

/// Writes a first version.
fn draft(ctx: Context, topic: Topic) -> Letter { Letter { text: ask<String>("What about {{ topic.name }}?") } }

/// Improves it.
fn review(ctx: Context, letter: Letter) -> Letter { Letter { text: ask<String>("Better than {{ letter.text }}?") } }

fn main(ctx: Context) -> Letter {
    pursue |letter| letter.text == "good" from Topic { name: "holidays" } limit 5 {
        draft(ctx, _)
        review(ctx, _)
    }
}
`;
const long = `fn clock(count: i32) -> i32 {
    let done = 0
    while done < count {
        let t = now()
        done = done + 1
    }
    done
}
`;
const attack = '<img src=x onerror="document.title=1">\u202egnirts';
const script = `Desk::find when "Where" => "order"\nDesk::find when "refund" => "refund"\nDesk::find => "order"\n* => ${JSON.stringify(attack)}\n`;

/** A studio and a page on it, which are closed at the end of the test. */
const mail = `fn mail() -> String {
    let from = ask<String>("Who writes?")
    let to = approve(from, "Answer this address?")
    "to {{ to }}"
}
`;

async function open(closing, options = {}, files = { "desk.tn": desk, "greet.tn": greet }) {
  const studio = new Studio(files, script);
  closing.push(() => studio.close());
  await studio.start();
  const page = await openPage(studio, options);
  closing.push(() => page.context().close());
  return { studio, page };
}

const text = (page) => page.getByRole("textbox", { name: "Program text" });
const file = (page) => page.getByRole("status", { name: "File" });
const block = (page, name) => page.getByRole("treeitem", { name });

async function openProgram(page, name) {
  await page.getByRole("navigation", { name: "Studio" }).getByRole("link", { name, exact: true }).click();
  await text(page).waitFor();
  await until(() => file(page).textContent(), (state) => state === "Saved");
}

async function startRun(page, what, fields) {
  await page.getByRole("button", { name: "New run" }).click();
  const dialog = page.getByRole("dialog", { name: "New run" });
  await dialog.getByLabel("Agent or function").selectOption(what);
  for (const [name, value] of Object.entries(fields)) await dialog.getByLabel(name, { exact: true }).fill(value);
  await dialog.getByRole("button", { name: "Start" }).click();
}

const state = (page, wanted) =>
  until(() => page.getByRole("status", { name: "Run state" }).textContent(), (found) => found === wanted);

await runTests(
  {
    async "the token leaves the address, and a page without it says how to get one"(closing) {
      const { studio, page } = await open(closing);
      await page.getByRole("link", { name: "Programs" }).waitFor();
      assert.ok(!page.url().includes("token"), page.url());
      await page.reload();
      await page.getByRole("link", { name: "Programs" }).waitFor();
      const other = await openPage(studio, { address: studio.address.split("#")[0] });
      closing.push(() => other.context().close());
      await other.getByRole("heading", { name: "This page needs a token" }).waitFor();
      assert.deepEqual(page.complaints, []);
    },

    async "text and graph are two views of one draft"(closing) {
      const { studio, page } = await open(closing);
      await openProgram(page, "desk");
      for (const name of ["find, request", "choose, route", "refund, call", "talk, request"]) await block(page, name).waitFor();
      assert.equal(await page.getByRole("tree", { name: "Blocks of Desk" }).getByRole("treeitem").count(), 4);
      // What is typed is drawn and checked.
      await text(page).fill(desk.replace("block talk: request", "block speak: request"));
      await block(page, "speak, request").waitFor();
      await until(() => file(page).textContent(), (found) => found.startsWith("Unsaved"));
      await page.getByRole("list", { name: "Problems" }).getByRole("listitem").filter({ hasText: /E\d{4}/ }).first().waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await block(page, "talk, request").waitFor();
      assert.equal(await page.getByRole("list", { name: "Problems" }).count(), 0);
      // A block is added with the keyboard alone; the rest of the text stays as it is.
      await block(page, "talk, request").focus();
      await page.keyboard.press("a");
      const dialog = page.getByRole("dialog", { name: "Add block" });
      await dialog.getByLabel("Name").fill("thank");
      await dialog.getByLabel("Kind").selectOption("emit");
      assert.ok(await dialog.getByLabel("Put it between").isVisible());
      await dialog.getByRole("button", { name: "Add" }).click();
      await block(page, "thank, emit").waitFor();
      await page.keyboard.press("Control+s");
      await until(() => file(page).textContent(), (found) => found.startsWith("Saved"));
      const saved = studio.read("desk.tn");
      assert.ok(saved.includes("block thank: emit") && saved.includes("    // Keep this short.\n    block talk: request {"), saved);
      assert.ok(saved.includes('{{ scratchpad.note }}"\n        -> thank\n    }'), saved);
      // One history for both views.
      await page.getByRole("button", { name: "Undo" }).click();
      await until(() => block(page, "thank, emit").count(), (count) => count === 0);
      await page.keyboard.press("Control+s");
      await until(() => studio.read("desk.tn"), (found) => found === desk);
      assert.deepEqual(page.complaints, []);
    },

    async "the graph is used with the keyboard"(closing) {
      const { page } = await open(closing);
      await openProgram(page, "desk");
      await block(page, "find, request").focus();
      await page.keyboard.press("ArrowDown");
      await until(() => page.evaluate(() => document.activeElement.dataset.path), (path) => path === "choose");
      await page.keyboard.press("c");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await block(page, "refund, call").focus();
      await page.keyboard.press("Delete");
      await until(() => block(page, "refund, call").count(), (count) => count === 0);
      await page.getByRole("button", { name: "Undo" }).click();
      await block(page, "refund, call").waitFor();
      await block(page, "refund, call").focus();
      await page.keyboard.press("Enter");
      await until(() => page.evaluate(() => document.activeElement.shadowRoot !== null), Boolean);
      assert.deepEqual(page.complaints, []);
    },

    async "names are suggested from the checker, also in a text that does not compile"(closing) {
      const { page } = await open(closing);
      await openProgram(page, "desk");
      const broken = desk.replace("into: state.topic", "into: ").replace("-> choose", "->");
      await text(page).fill(broken);
      await page.getByRole("list", { name: "Problems" }).waitFor();
      const suggestions = page.getByRole("listbox").getByRole("option");
      /** Puts the cursor after the words, with the search of the editor. */
      const goAfter = async (words) => {
        await text(page).focus();
        await page.keyboard.press("Control+Home");
        await page.keyboard.press("Control+f");
        const field = page.getByRole("textbox", { name: "Find" });
        await field.fill("");
        await field.pressSequentially(words);
        await field.press("Enter");
        await field.press("Escape");
        await page.keyboard.press("ArrowRight");
      };
      await goAfter("into:");
      await page.keyboard.type(" state.");
      await until(() => suggestions.allTextContents(), (found) => found.some((one) => one.startsWith("topic")));
      await checkAccess(page);
      await picture(page, "completion");
      await page.keyboard.press("Enter");
      await goAfter("->");
      await page.keyboard.type(" ");
      await until(() => suggestions.count(), (count) => count === 4);
      await page.keyboard.type("cho");
      await until(() => suggestions.count(), (count) => count === 1);
      await suggestions.click();
      await until(() => page.getByRole("list", { name: "Problems" }).count(), (count) => count === 0);
      await page.keyboard.press("Control+z");
      await page.getByRole("list", { name: "Problems" }).waitFor();
      // The name under the pointer is explained.
      await page.locator(".cm-content").getByText("allow", { exact: true }).first().hover();
      await page.locator(".cm-meaning").getByText("allow(topic: String) -> String").waitFor();
      assert.deepEqual(page.complaints, []);
    },

    async "state, instructions, doc comments and functions are edited in forms"(closing) {
      const { studio, page } = await open(closing);
      await openProgram(page, "desk");
      await page.getByRole("button", { name: /Agent Desk/ }).click();
      const form = page.getByRole("region", { name: "Agent Desk" });
      await checkAccess(page);
      await picture(page, "agent");
      const commit = async (label, value) => {
        const field = form.getByLabel(label, { exact: true });
        await field.fill(value);
        await field.blur();
      };
      await commit("Name of topic", "subject");
      await form.getByLabel("Name of subject", { exact: true }).waitFor();
      await commit("Type of note", "String?");
      await until(() => page.getByRole("list", { name: "Problems" }).count(), (count) => count === 1);
      await commit("Value of note", "None");
      await commit("Doc comment", "Answers.");
      await commit("Instructions", '"You are the desk."!\n"Be kind."!');
      await form.getByLabel("New entry of state").fill("count");
      await form.getByRole("button", { name: "Add to state" }).click();
      await commit("Type of count", "i32");
      await commit("Value of count", "0");
      await form.getByLabel("New entry of state").fill("subject");
      await form.getByRole("button", { name: "Add to state" }).click();
      await form.getByText("already has an entry").waitFor();
      await form.getByLabel("New function of Desk").fill("help");
      await form.getByRole("button", { name: "Add function" }).click();
      await form.getByLabel("Name of fn help").waitFor();
      await form.getByLabel("Show").selectOption({ label: "declarations of the file" });
      const file = page.getByRole("region", { name: "Declarations" });
      await file.getByLabel("Name of fn allow").fill("permit");
      await file.getByLabel("Name of fn allow").blur();
      await file.getByLabel("Name of fn permit").waitFor();
      // Options, ways and doc comments of blocks.
      await block(page, "choose, route").click();
      const chosen = page.getByRole("region", { name: "Block choose" });
      await chosen.getByLabel("Doc comment").fill("Decides.");
      await chosen.getByLabel("Doc comment").blur();
      await until(() => block(page, "choose, route").getAttribute("title"), (title) => title === "choose: Decides.");
      const label = chosen.getByLabel(/^Label of when/);
      await label.fill('state.subject == "money"');
      await label.blur();
      await chosen.getByLabel(/^Target of when.*money/).waitFor();
      // What is being typed in a form is saved, too.
      await chosen.getByLabel("Doc comment").fill("Decides it.");
      await page.keyboard.press("Control+s");
      const saved = await until(() => studio.read("desk.tn"), (found) => found.includes("/// Decides it."));
      for (const part of ["subject: String", "into: state.subject", "note: String? = None", "/// Answers.\nagent Desk", "count: i32 = 0",
        'instructions {\n        "You are the desk."!\n        "Be kind."!\n    }', "fn help() -> String", "call: permit(state.subject)",
        "fn permit(topic", 'when state.subject == "money" -> refund', "    // Keep this short.\n"]) {
        assert.ok(saved.includes(part), `${part} is not in\n${saved}`);
      }
      assert.deepEqual(page.complaints, []);
    },

    async "every action is in the palette of commands"(closing) {
      const { page } = await open(closing);
      await openProgram(page, "desk");
      const dialog = page.getByRole("dialog", { name: "Commands" });
      const command = dialog.getByRole("combobox", { name: "Command" });
      const options = dialog.getByRole("option");
      await block(page, "refund, call").waitFor();
      await page.keyboard.press("Control+k");
      await command.waitFor();
      const all = await options.allTextContents();
      for (const name of ["New run", "Undo", "Redo", "Fit", "Save", "Go to refund", "Go to Runs", "Open program greet", "Go to fn allow"]) {
        assert.ok(all.some((one) => one.startsWith(name)), `${name} is not in ${all}`);
      }
      assert.ok(all.some((one) => one === "SaveCtrl+S"), all.join());
      await checkAccess(page);
      await picture(page, "commands");
      await command.fill("go refund");
      await until(() => options.count(), (count) => count === 1);
      await page.keyboard.press("Enter");
      await until(() => page.evaluate(() => document.activeElement.dataset.path), (path) => path === "refund");
      await page.keyboard.press("Control+k");
      await command.fill("delete");
      await page.keyboard.press("Enter");
      await until(() => block(page, "refund, call").count(), (count) => count === 0);
      await page.keyboard.press("Control+k");
      await command.fill("undo");
      await page.keyboard.press("Enter");
      await block(page, "refund, call").waitFor();
      // Moved by arrows, closed without an effect.
      await page.keyboard.press("Control+k");
      await command.fill("program");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("Escape");
      await until(() => dialog.count(), (count) => count === 0);
      await page.keyboard.press("Control+k");
      await command.fill("open program greet");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "greet" }).waitFor();
      assert.deepEqual(page.complaints, []);
    },

    async "calls, prompts and plans are drawn and explained"(closing) {
      const { page } = await open(closing, {}, { "desk.tn": desk, "greet.tn": greet, "plan.tn": pursuit });
      // A program without blocks has the graph of its calls.
      await openProgram(page, "greet");
      const calls = page.getByRole("tree", { name: "Calls" });
      for (const name of ["greet, function", "visit, function"]) await calls.getByRole("treeitem", { name }).waitFor();
      await openProgram(page, "desk");
      await page.getByRole("button", { name: "Calls" }).click();
      await calls.getByRole("treeitem", { name: "Desk, agent" }).click();
      await page.getByRole("region", { name: "agent Desk", exact: true }).waitFor();
      await checkAccess(page);
      await picture(page, "calls");
      await page.getByRole("button", { name: "Blocks" }).click();
      // What the model would be sent.
      await block(page, "talk, request").click();
      const prompts = page.getByRole("region", { name: "Prompt as it would be sent" });
      await prompts.getByRole("button").click();
      await until(() => prompts.textContent(), (found) => found.includes("Answer in one sentence. {{"));
      assert.ok(!(await prompts.textContent()).includes("What is this about?"));
      assert.match(await prompts.textContent(), /system\s*You are the desk of a shop\. Be brief\./);
      await checkAccess(page);
      await prompts.getByRole("listitem").last().scrollIntoViewIfNeeded();
      await picture(page, "prompts");
      await openProgram(page, "plan");
      await page.getByRole("button", { name: "Plan" }).click();
      const plan = page.getByRole("tree", { name: /^Plan of/ });
      for (const name of ["start, start", "draft, action", "review, action", "goal, goal"]) await plan.getByRole("treeitem", { name }).waitFor();
      const steps = page.getByRole("table", { name: "Steps of the plan" });
      const all = await steps.getByRole("row").count();
      const step = steps.getByRole("row").filter({ hasText: "entails" }).first();
      await step.waitFor();
      await plan.getByRole("treeitem", { name: "review, action" }).click();
      await until(() => steps.getByRole("row").count(), (count) => count < all);
      await checkAccess(page);
      await picture(page, "plan");
      // It follows the text.
      await text(page).fill(pursuit.replace("review(ctx, _)", "review(ctx, _)\n        draft(ctx, _) as again"));
      await plan.getByRole("treeitem", { name: "again, action" }).waitFor();
      assert.deepEqual(page.complaints, []);
    },

    async "line ends and other bytes survive"(closing) {
      const windows = desk.replaceAll("\n", "\r\n").replace("of a shop.", "of a shop. é😀");
      const { studio, page } = await open(closing, {}, { "desk.tn": windows });
      await openProgram(page, "desk");
      await block(page, "choose, route").focus();
      await page.keyboard.press("a");
      const dialog = page.getByRole("dialog", { name: "Add block" });
      await dialog.getByLabel("Name").fill("pause");
      await dialog.getByLabel("Kind").selectOption("code");
      await dialog.getByRole("button", { name: "Add" }).click();
      await block(page, "pause, code").waitFor();
      await page.keyboard.press("Control+s");
      const saved = await until(() => studio.read("desk.tn"), (found) => found.includes("block pause"));
      assert.equal(saved.split("\n").length, saved.split("\r\n").length);
      assert.ok(saved.includes("of a shop. é😀"), saved);
    },

    async "a conversation is started, watched and answered"(closing) {
      const { studio, page } = await open(closing);
      await openProgram(page, "desk");
      await startRun(page, "Desk", { Input: "I want a refund." });
      await state(page, "waiting");
      await until(() => block(page, "refund, call").getAttribute("aria-current"), (found) => found === "step");
      await page.getByRole("link", { name: "Questions, 1" }).waitFor();
      const question = page.getByRole("form", { name: /^Question Allow a refund/ });
      await picture(page, "question");
      await question.getByRole("radio", { name: "Yes" }).or(question.getByRole("checkbox")).first().check();
      await question.getByRole("button", { name: "Answer" }).click();
      await state(page, "idle");
      const log = page.getByRole("log", { name: "Conversation" });
      await until(() => log.textContent(), (found) => found.includes("I want a refund.") && found.includes("<img src=x"));
      // What a model writes is text, also where it would change how text is shown.
      assert.equal(await page.locator("img").count(), 0);
      assert.ok(!(await log.textContent()).includes("\u202e"));
      const events = page.getByRole("grid", { name: "Events" });
      const [run] = (await studio.ask("/v1/runs")).runs;
      const recorded = await studio.events(run.run);
      assert.equal(await events.getAttribute("aria-rowcount"), `${recorded.length}`);
      await events.getByRole("row").filter({ hasText: "turn_end" }).first().waitFor();
      // What the model saw, where it came from, and the run as it was then.
      await events.getByRole("row").filter({ hasText: "generation_started" }).first().click();
      const seen = page.getByRole("list", { name: "What the model saw" });
      const entries = await until(() => seen.getByRole("listitem").allTextContents(), (found) => found.length > 0);
      assert.ok(entries.some((entry) => entry.startsWith("program") && entry.includes("You are the desk of a shop.")), entries);
      assert.ok(entries.some((entry) => entry.startsWith("person") && entry.includes("I want a refund.")), entries);
      assert.ok(entries.some((entry) => entry.includes("What is this about? One word.")), entries);
      await until(() => page.getByRole("group", { name: "Tokens" }).textContent(), (found) => /computed \d+ reused \d+ generated \d+ forced \d+/.test(found));
      assert.ok((await page.getByRole("tree", { name: "Stack" }).getByRole("treeitem").count()) > 0);
      await checkAccess(page);
      await picture(page, "record");
      await page.getByRole("textbox", { name: "Message" }).fill("Where is my order?");
      await page.keyboard.press("Enter");
      await until(() => log.textContent(), (found) => found.includes("Where is my order?"));
      await state(page, "idle");
      assert.deepEqual(page.complaints, []);
    },

    async "what was saved is run, and forms have the types of arguments and answers"(closing) {
      const { studio, page } = await open(closing);
      await openProgram(page, "greet");
      await text(page).fill(greet.replace("hello", "welcome"));
      await page.keyboard.press("Control+s");
      await until(() => file(page).textContent(), (found) => found === "Saved");
      await startRun(page, "greet", { name: "Ada", times: "3" });
      await state(page, "ended");
      await until(() => page.getByRole("log").textContent(), (found) => found.includes("welcome Ada, 3 times"));
      // The same as a command, without the token.
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await openProgram(page, "greet");
      await page.getByRole("button", { name: "New run" }).click();
      const dialog = page.getByRole("dialog", { name: "New run" });
      await dialog.getByLabel("Agent or function").selectOption("greet");
      await dialog.getByLabel("times", { exact: true }).fill("many");
      await dialog.getByRole("button", { name: "Copy as cURL" }).click();
      await dialog.getByText(/number/).first().waitFor();
      for (const [name, value] of [["name", "Ada's"], ["times", "3"]]) await dialog.getByLabel(name, { exact: true }).fill(value);
      await dialog.getByRole("button", { name: "Copy as cURL" }).click();
      await dialog.getByText(/^Copied/).waitFor();
      const command = await page.evaluate(() => navigator.clipboard.readText());
      assert.ok(command.startsWith(`curl http://127.0.0.1:${studio.port}/v1/runs`) && command.includes("Ada'\\''s"), command);
      assert.ok(!command.includes(studio.address.split("token=")[1]), command);
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "Runs" }).click();
      await page.getByRole("table", { name: "Runs" }).getByRole("row").filter({ hasText: "greet" }).waitFor();
      await openProgram(page, "greet");
      await startRun(page, "visit", {});
      await state(page, "waiting");
      await page.getByRole("link", { name: "Questions, 1" }).click();
      const question = page.getByRole("form", { name: "Question Who comes?" });
      await question.getByLabel("name").fill("Grace");
      await question.getByLabel("guests").fill("many");
      await question.getByRole("button", { name: "Answer" }).click();
      await question.getByText(/number/).first().waitFor();
      await question.getByLabel("guests").fill("2");
      await question.getByRole("button", { name: "Answer" }).click();
      await page.getByRole("link", { name: "Questions", exact: true }).waitFor();
      assert.deepEqual(page.complaints, []);
    },

    async "a person approves of a value, changes it, or refuses it"(closing) {
      const { page } = await open(closing, {}, { "mail.tn": mail });
      const ask = async (wait, from = "eve@example.com", shown = from) => {
        await openProgram(page, "mail");
        await startRun(page, "mail", {});
        await state(page, "waiting");
        const form = page.getByRole("form", { name: "Question Who writes?" });
        await form.getByLabel("Your answer").fill(from);
        await form.getByRole("button", { name: "Answer" }).click();
        const approval = page.getByRole("form", { name: "Question Answer this address?" });
        await approval.locator("pre").getByText(shown).waitFor();
        await approval.getByText("Depends on person.").waitFor();
        await wait(approval);
      };
      await ask((form) => form.getByRole("button", { name: "Approve" }).click());
      await page.getByText("to eve@example.com").first().waitFor();
      await ask(async (form) => {
        await picture(page, "approval");
        await form.getByRole("button", { name: "Change" }).click();
        assert.equal(await form.getByLabel("Your answer").inputValue(), "eve@example.com");
        await form.getByLabel("Your answer").fill("ann@example.com");
        await form.getByRole("button", { name: "Answer" }).click();
      });
      await page.getByText("to ann@example.com").first().waitFor();
      const refuse = (form) => form.getByRole("button", { name: "Refuse" }).click();
      await ask(refuse, "eve\u202e@example.com", "eveU+202E@example.com");
      await page.getByText("a person does not approve of the value").first().waitFor();
      assert.deepEqual(page.complaints, []);
    },

    async "nothing is saved over another change"(closing) {
      const { studio, page } = await open(closing);
      await openProgram(page, "greet");
      await text(page).fill(greet.replace("hello", "welcome"));
      const theirs = greet.replace("guests\"", "people\"");
      studio.write("greet.tn", theirs);
      await page.keyboard.press("Control+s");
      const dialog = page.getByRole("dialog", { name: "Changed on disk" });
      await dialog.waitFor();
      await picture(page, "changed_on_disk");
      assert.equal(studio.read("greet.tn"), theirs);
      await dialog.getByRole("button", { name: "Merge" }).click();
      await page.keyboard.press("Control+s");
      const merged = await until(() => studio.read("greet.tn"), (found) => found !== theirs);
      assert.equal(merged, theirs.replace("hello", "welcome"));
      // A text without changes of its own follows the file.
      studio.write("greet.tn", greet.replace("hello", "good morning"));
      await until(() => text(page).textContent(), (found) => found.includes("good morning"));
      assert.deepEqual(page.complaints, []);
    },

    async "two people change one file, and each keeps the words of the other"(closing) {
      const { studio, page } = await open(closing);
      const other = await openPage(studio);
      closing.push(() => other.context().close());
      for (const one of [page, other]) await openProgram(one, "greet");
      await text(page).fill(greet.replace("hello", "welcome"));
      await text(other).fill(greet.replace('guests"', 'people"'));
      await page.keyboard.press("Control+s");
      await until(() => file(page).textContent(), (found) => found === "Saved");
      const dialog = other.getByRole("dialog", { name: "Changed on disk" });
      await dialog.waitFor();
      await dialog.getByRole("button", { name: "Merge" }).click();
      await other.keyboard.press("Control+s");
      const both = greet.replace("hello", "welcome").replace('guests"', 'people"');
      await until(() => studio.read("greet.tn"), (found) => found === both);
      await until(() => text(page).textContent(), (found) => found.includes("welcome") && found.includes('people"'));
      await until(() => file(page).textContent(), (found) => found === "Saved");
      assert.deepEqual([...page.complaints, ...other.complaints], []);
    },

    async "eight tabs follow one file and one run"(closing) {
      const { studio, page } = await open(closing);
      const pages = [page];
      while (pages.length < 8) {
        const tab = await page.context().newPage();
        await tab.goto(studio.address);
        pages.push(tab);
      }
      for (const one of pages) await openProgram(one, "greet");
      await text(page).fill(greet.replace("hello", "welcome"));
      await page.keyboard.press("Control+s");
      for (const one of pages) await until(() => text(one).textContent(), (found) => found.includes("welcome"));
      await studio.ask("/v1/runs", { method: "POST", body: JSON.stringify({ fn: "visit", args: {} }) });
      for (const one of pages) await one.getByRole("link", { name: "Questions, 1" }).waitFor();
      // The tab that reads the stream is closed: another one takes over.
      await page.close();
      studio.write("greet.tn", greet.replace("hello", "good morning"));
      for (const one of pages.slice(1)) await until(() => text(one).textContent(), (found) => found.includes("good morning"));
    },

    async "a program of 12,000 lines is edited like a small one"(closing) {
      const functions = Array.from({ length: 2000 }, (_, at) => `/// Number ${at}.\nfn make_${at}(n: i32) -> i32 {\n    let a = n + ${at}\n    a\n}\n\n`);
      const large = `${desk}\n${functions.join("")}`;
      assert.ok(large.split("\n").length > 12_000);
      const { studio, page } = await open(closing, {}, { "desk.tn": large });
      await openProgram(page, "desk");
      await block(page, "find, request").waitFor();
      await text(page).focus();
      await page.keyboard.press("Control+End");
      await page.keyboard.type("fn last() -> i32 { make_1999(nope) }");
      await page.getByRole("list", { name: "Problems" }).getByRole("listitem").filter({ hasText: "nope" }).waitFor();
      for (let at = 0; at < 8; ++at) await page.keyboard.press("Backspace");
      await page.keyboard.type("(1) }");
      await until(() => page.getByRole("list", { name: "Problems" }).count(), (count) => count === 0);
      await block(page, "choose, route").focus();
      await page.keyboard.press("a");
      const dialog = page.getByRole("dialog", { name: "Add block" });
      await dialog.getByLabel("Name").fill("pause");
      await dialog.getByLabel("Kind").selectOption("code");
      await dialog.getByRole("button", { name: "Add" }).click();
      await block(page, "pause, code").waitFor();
      await page.keyboard.press("Control+s");
      const saved = await until(() => studio.read("desk.tn"), (found) => found !== large);
      assert.ok(saved.endsWith("fn last() -> i32 { make_1999(1) }") && saved.includes("block pause: code"), saved.slice(-80));
      assert.ok(saved.includes(functions.join("")));
      assert.deepEqual(page.complaints, []);
    },

    async "a studio that is killed and started again is found again"(closing) {
      const { studio, page } = await open(closing);
      await openProgram(page, "desk");
      await startRun(page, "Desk", { Input: "I want a refund." });
      await state(page, "waiting");
      await studio.stop("SIGKILL");
      const connection = page.getByRole("status", { name: "Connection" });
      await until(() => connection.textContent(), (found) => found === "lost");
      await studio.start();
      await until(() => connection.textContent(), (found) => found === "connected");
      // What happened meanwhile, and what happens now, is shown.
      const [run] = (await studio.ask("/v1/runs")).runs;
      await studio.ask(`/v1/runs/${run.run}/resume`, { method: "POST", body: JSON.stringify({ input: true }) });
      await state(page, "idle");
      await until(() => page.getByRole("log").textContent(), (found) => found.includes("<img src=x"));
      assert.deepEqual(page.complaints, []);
    },

    async "a line is changed at a moment of a run, and a fork continues from there"(closing) {
      const { studio, page } = await open(closing);
      await openProgram(page, "desk");
      await startRun(page, "Desk", { Input: "Where is my order?" });
      await state(page, "idle");
      const first = page.url();
      // The slider goes over the records.
      const slider = page.getByRole("slider", { name: "Record" });
      await slider.focus();
      await page.keyboard.press("Home");
      assert.equal(await slider.inputValue(), "1");
      await page.getByRole("region", { name: "Record 1", exact: true }).waitFor();
      await page.keyboard.press("End");
      const last = Number(await slider.inputValue());
      assert.equal(await slider.getAttribute("max"), `${last}`);
      const [run] = (await studio.ask("/v1/runs")).runs;
      const events = await studio.events(run.run);
      const answer = events.findLast((event) => event.type === "generation_started");
      while (Number(await slider.inputValue()) > answer.number) await page.keyboard.press("ArrowLeft");
      const region = page.getByRole("region", { name: `Record ${answer.number}`, exact: true });
      await region.getByRole("list", { name: "What the model saw" }).waitFor();
      await until(() => region.getByRole("group", { name: "Tokens" }).textContent(), (found) =>
        /^computed \d+ reused \d+ generated \d+ forced \d+$/.test(found),
      );
      assert.ok((await region.textContent()).includes("State of Desk") && (await region.textContent()).includes('"topic": "order"'));
      await checkAccess(page);
      await picture(page, "slider");
      await page.getByRole("button", { name: "Fork from here" }).click();
      const dialog = page.getByRole("dialog", { name: "Fork" });
      await dialog.getByText("taken from the record: 1", { exact: true }).waitFor();
      await dialog.getByText("model requests: 1", { exact: true }).waitFor();
      await dialog.getByText("requests the same").waitFor();
      const changed = desk.replace("Answer in one sentence.", "Answer in two sentences.");
      const program = dialog.getByRole("textbox", { name: "Program text" });
      await program.fill(changed.replace("state.topic == ", "state.tpic == "));
      await dialog.getByRole("list", { name: "Problems of the changed text" }).getByRole("listitem").first().waitFor();
      await until(() => dialog.getByRole("button", { name: "Fork" }).isDisabled());
      await picture(page, "fork_problem");
      await program.fill(changed);
      await dialog.getByText(/It parts from the record with the model request/).waitFor();
      await dialog.getByText("model requests: 1", { exact: true }).waitFor();
      await checkAccess(page);
      await picture(page, "fork");
      await dialog.getByRole("button", { name: "Fork" }).click();
      await until(() => page.url(), (url) => !url.startsWith(first.split("/records")[0]));
      await state(page, "idle");
      const [fork] = (await studio.ask("/v1/runs")).runs.filter((one) => one.run !== run.run);
      assert.ok(page.url().endsWith(`/runs/${fork.run}`), page.url());
      assert.equal(studio.read("desk.tn"), desk);
      const asked = (await studio.events(fork.run)).findLast((event) => event.type === "generation_started");
      const moment = await studio.ask(`/v1/runs/${fork.run}/records/${asked.number}`);
      assert.ok(JSON.stringify(moment.prompt.messages).includes("Answer in two sentences."), moment);
      // Both runs, side by side.
      await page.getByRole("link", { name: "Runs", exact: true }).click();
      for (const one of [run, fork]) await page.getByRole("checkbox", { name: `Select ${one.run}` }).check();
      await checkAccess(page);
      await picture(page, "runs_selected");
      await page.getByRole("button", { name: "Compare" }).click();
      const difference = page.getByRole("region", { name: "Difference" });
      await difference.getByRole("heading", { name: "Where they part" }).waitFor();
      await difference.getByText("two sentences").first().waitFor();
      await checkAccess(page);
      await picture(page, "difference");
      await difference.getByRole("link", { name: /^record \d+/ }).first().click();
      await page.getByRole("region", { name: /^Record \d+$/ }).waitFor();
      assert.deepEqual(page.complaints, []);
    },

    async "the lines, blocks and states where a run is are lit, live and at each record"(closing) {
      const { studio, page } = await open(closing, {}, { "desk.tn": desk, "greet.tn": greet, "pursuing.tn": pursuing });
      const place = page.getByRole("status", { name: "Place in the source" });
      const lit = () =>
        page.evaluate(() => {
          const lines = document.querySelector(".run-source .editor-host").shadowRoot.querySelectorAll(".cm-run-here, .cm-run-failed");
          return [...lines].map((line) => line.textContent.trim());
        });
      // A program without blocks.
      await openProgram(page, "greet");
      await startRun(page, "visit", {});
      await state(page, "waiting");
      await until(() => place.textContent(), (found) => found === "at line 6");
      assert.deepEqual(await lit(), ['let visit = ask<Visit>("Who comes?")']);
      await checkAccess(page);
      await picture(page, "run_source");
      await page.getByLabel("guests").fill("2");
      await page.getByLabel("name").fill("Ada");
      await page.getByRole("button", { name: "Answer" }).click();
      await state(page, "ended");
      await until(() => place.textContent(), (found) => found === "at no line of this text");
      // Blocks, with what they took.
      await openProgram(page, "desk");
      await startRun(page, "Desk", { Input: "I want a refund." });
      await state(page, "waiting");
      const asking = page.getByRole("treeitem", { name: "refund, call" });
      await until(() => asking.getAttribute("aria-current"), (current) => current === "step");
      await page.getByRole("treeitem", { name: "find, request" }).click();
      const block = page.getByRole("region", { name: "Block find" });
      await until(() => block.getByRole("group", { name: "Time and tokens" }).textContent(), (found) => /^once.*\d+ m?s\d+ tokens$/.test(found));
      await until(() => page.locator(".block-figures").first().textContent(), (found) => /^\d+ m?s · \d+ tok\.$/.test(found));
      await checkAccess(page);
      await picture(page, "run_block");
      // At an earlier record, the blocks are those of then.
      await block.getByRole("table", { name: "Times in this block" }).getByRole("link").first().click();
      await page.getByRole("region", { name: /^Record \d+$/ }).waitFor();
      await until(() => page.getByRole("treeitem", { name: "find, request" }).getAttribute("aria-current"), (current) => current === "step");
      assert.equal(await asking.getAttribute("aria-current"), null);
      await page.getByRole("region", { name: "Graph" }).getByRole("button", { name: "Source" }).click();
      await until(() => place.textContent(), (found) => found === "at line 13");
      // The plan of a pursue.
      await openProgram(page, "pursuing");
      await startRun(page, "main", {});
      await state(page, "waiting");
      await page.getByRole("button", { name: "Plan" }).click();
      const present = page.getByRole("status", { name: "Present state" });
      await until(() => present.textContent(), (found) => found === 'present state start {"name":"holidays"}');
      await page.getByLabel("Answer").fill("Dear all");
      await page.getByRole("button", { name: "Answer" }).click();
      await until(() => present.textContent(), (found) => found === 'present state draft {"text":"Dear all"}');
      assert.equal(await page.getByRole("treeitem", { name: "draft, action" }).getAttribute("aria-current"), "step");
      await checkAccess(page);
      await picture(page, "run_plan");
      const [run] = (await studio.ask("/v1/runs")).runs.filter((one) => one.agent === "main");
      const [first] = (await studio.events(run.run)).filter((event) => event.type === "wait_for_input");
      await page.evaluate(([name, record]) => (location.hash = `#/runs/${name}/records/${record}`), [run.run, first.number]);
      await until(() => present.textContent(), (found) => found === 'present state start {"name":"holidays"}');
      assert.deepEqual(page.complaints, []);
    },

    async "a run is replayed, and compared with another one"(closing) {
      const { page } = await open(closing);
      for (const input of ["one", "two"]) {
        await openProgram(page, "greet");
        await startRun(page, "greet", { name: input, times: "1" });
        await state(page, "ended");
      }
      await page.getByRole("button", { name: "Replay" }).click();
      const replay = page.getByRole("dialog", { name: "Replay" });
      await replay.getByText("comes to the same end").waitFor();
      await replay.getByText("hello two, 1 times").waitFor();
      await checkAccess(page);
      await picture(page, "replay");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Compare" }).click();
      const compare = page.getByRole("dialog", { name: "Compare" });
      await compare.getByLabel("With run").waitFor();
      await compare.getByRole("button", { name: "Compare" }).click();
      const difference = page.getByRole("region", { name: "Difference" });
      await difference.getByRole("heading", { name: "Input" }).waitFor();
      await difference.getByRole("heading", { name: "Value of the run" }).waitFor();
      assert.deepEqual(page.complaints, []);
    },

    async "a long run opens at its end"(closing) {
      const count = 20_000;
      const { studio, page } = await open(closing, {}, { "long.tn": long });
      const started = await studio.ask("/v1/runs", { method: "POST", body: JSON.stringify({ fn: "clock", args: { count: count / 2 } }) });
      await until(async () => (await studio.ask(`/v1/runs/${started.run}`)).state, (found) => found === "done");
      await page.getByRole("link", { name: "Runs", exact: true }).click();
      const link = page.getByRole("link", { name: started.run });
      await link.waitFor();
      const begun = Date.now();
      await link.click();
      const events = page.getByRole("grid", { name: "Events" });
      await events.getByRole("row").filter({ hasText: "turn_end" }).waitFor();
      const opened = Date.now() - begun;
      console.log(`# 20,000 events: ${opened} ms to the last one`);
      const total = count + 2;
      assert.equal(await events.getAttribute("aria-rowcount"), `${total}`);
      assert.ok((await events.getByRole("row").count()) < 100);
      // Earlier ones come when they are in sight.
      const requests = [];
      page.on("request", (request) => request.url().includes("/events?") && requests.push(request.url()));
      await events.getByRole("row").filter({ hasText: "turn_end" }).click();
      await page.keyboard.press("Home");
      const started_row = events.getByRole("row").filter({ hasText: "prompt_started" });
      await started_row.waitFor();
      // What is between is not read.
      assert.ok(requests.length <= 3, requests);
      await page.keyboard.press("Enter");
      await page.getByRole("region", { name: "Record 1", exact: true }).getByText('"prompt_started"').waitFor();
      await page.keyboard.press("Escape");
      // Where the run was at a record that is far from the end.
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await until(() => page.getByRole("status", { name: "Place in the source" }).textContent(), (found) => found === "at line 4");
      await page.keyboard.press("Escape");
      await page.keyboard.press("ArrowUp");
      await until(() => page.evaluate(() => document.activeElement.getAttribute("aria-rowindex")), (index) => index === "1");
      assert.equal(await events.getAttribute("aria-rowcount"), `${total}`);
      assert.deepEqual(page.complaints, []);
    },

    async "every screen is accessible in both schemes, also 640 pixels wide"(closing) {
      for (const scheme of ["light", "dark"]) {
        const { page } = await open(closing, { scheme });
        await page.getByRole("heading", { name: "desk" }).waitFor();
        await checkAccess(page);
        await picture(page, `programs_${scheme}`);
        await openProgram(page, "desk");
        await block(page, "choose, route").click();
        await checkAccess(page);
        await picture(page, `program_${scheme}`);
        await text(page).fill(desk.replace("-> choose", "-> nowhere"));
        await page.getByRole("list", { name: "Problems" }).waitFor();
        await checkAccess(page);
        await picture(page, `problems_${scheme}`);
        await page.getByRole("button", { name: "Undo" }).click();
        await page.getByRole("button", { name: "New run" }).click();
        await page.getByRole("dialog", { name: "New run" }).waitFor();
        await checkAccess(page);
        await picture(page, `new_run_${scheme}`);
        await page.keyboard.press("Escape");
        await startRun(page, "Desk", { Input: "I want a refund." });
        await state(page, "waiting");
        await checkAccess(page);
        await picture(page, `run_${scheme}`);
        const slider = page.getByRole("slider", { name: "Record" });
        await slider.focus();
        for (const key of ["End", "ArrowLeft"]) await page.keyboard.press(key);
        await page.getByRole("tree", { name: "Stack" }).waitFor();
        await checkAccess(page);
        await picture(page, `record_${scheme}`);
        await page.getByRole("button", { name: "Fork from here" }).click();
        await page.getByText(/^taken from the record/).waitFor();
        await checkAccess(page);
        await picture(page, `fork_${scheme}`);
        await page.getByRole("dialog", { name: "Fork" }).getByRole("button", { name: "Fork" }).click();
        await page.getByRole("dialog", { name: "Fork" }).waitFor({ state: "detached" });
        await state(page, "waiting");
        await page.getByRole("button", { name: "Compare" }).click();
        await page.getByRole("dialog", { name: "Compare" }).getByRole("button", { name: "Compare" }).click();
        const difference = page.getByRole("region", { name: "Difference" });
        await until(() => difference.getAttribute("aria-busy"), (busy) => busy === "false");
        await checkAccess(page);
        await picture(page, `difference_${scheme}`);
        for (const screen of ["Runs", /^Questions/]) {
          await page.getByRole("link", { name: screen }).click();
          await page.getByRole("heading", { level: 1 }).waitFor();
          await checkAccess(page);
          await picture(page, `${typeof screen === "string" ? "runs" : "questions"}_${scheme}`);
        }
        await page.setViewportSize({ width: 640, height: 900 });
        await openProgram(page, "desk");
        await checkAccess(page);
        await picture(page, `narrow_${scheme}`);
        const close = page.getByRole("region", { name: /^Block/ }).getByRole("button", { name: "Close" });
        if ((await close.count()) > 0) await close.click();
        await page.getByRole("button", { name: /Agent Desk/ }).click();
        await page.getByRole("table", { name: "Entries of state" }).scrollIntoViewIfNeeded();
        await checkAccess(page);
        await picture(page, `narrow_agent_${scheme}`);
        const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok((await overflow()) <= 0, `${await overflow()} pixels too wide`);
        await page.getByRole("link", { name: "Runs", exact: true }).click();
        await page.getByRole("table", { name: "Runs" }).getByRole("link").first().click();
        await page.getByRole("slider", { name: "Record" }).focus();
        await page.keyboard.press("ArrowLeft");
        await page.getByRole("region", { name: /^Record \d+$/ }).waitFor();
        await checkAccess(page);
        await picture(page, `narrow_run_${scheme}`);
        assert.ok((await overflow()) <= 0, `${await overflow()} pixels too wide`);
      }
    },
  },
  process.argv.slice(2),
);
