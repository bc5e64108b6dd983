// What both TypeScript contracts need: the packages' folder, the server, and a line for each test.
import { createRequire } from "node:module";

const [folder, url, token] = process.argv.slice(2);
export { url, token };
export const load = createRequire(`${folder}/`);

export function check(condition, ...seen) {
  if (!condition) throw new Error(seen.map((value) => JSON.stringify(value)).join(" "));
}

/** Runs each test; one that fails is told and the others go on. */
export async function runTests(name, tests) {
  for (const [title, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`ok ${name}: ${title}`);
    } catch (error) {
      console.log(`not ok ${name}: ${title}: ${error?.stack ?? error}`.replaceAll("\n", " | "));
    }
  }
}
