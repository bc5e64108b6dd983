// Writes bundle/sources.sha256: a hash over the files that the bundle is built from. A test that computes it again finds a
// bundle that is older than its sources. With --check, compares instead of writing.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = import.meta.dirname;
const single = ['index.html', 'package.json', 'package-lock.json', 'sources_hash.mjs', 'tsconfig.json', 'vite.config.ts'];
const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1).replaceAll('\\', '/'));

const hash = createHash('sha256');
for (const name of [...single, ...sources].sort()) {
  const content = readFileSync(join(root, name));
  hash.update(`${name}\0${content.length}\0`).update(content);
}
const line = `${hash.digest('hex')}\n`;
const target = join(root, 'bundle', 'sources.sha256');
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== line) {
    console.error('studio/bundle is older than its sources: run `npm run build` in studio/');
    process.exit(1);
  }
} else {
  writeFileSync(target, line);
}
