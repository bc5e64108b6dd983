// Shared by both TypeScript contracts: the packages' folder, the server, and the line for each test.
import { createRequire } from "node:module";

const [folder, url, token] = process.argv.slice(2);
export { url, token };
export const load = createRequire(`${folder}/`);

export function check(condition, ...seen) {
  if (!condition) throw new Error(seen.map((value) => JSON.stringify(value)).join(" "));
}

/** Runs each test; reports a failure and continues with the others. */
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
