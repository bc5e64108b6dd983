// Merges two versions of a text that come from the same one, line by line.

/** Lines of the base from `base` on, and of the version from `other` on, that are the same. */
interface Match {
  base: number;
  other: number;
  length: number;
}

const editsMax = 4000;

/** The longest common subsequence of two lists of lines, by Myers's greedy algorithm. Null if they differ too much. */
function commonLines(base: string[], other: string[]): [number, number][] | null {
  const offset = editsMax + 1;
  const frontier = new Int32Array(2 * offset + 1);
  const history: Int32Array[] = [];
  for (let edits = 0; edits <= Math.min(editsMax, base.length + other.length); ++edits) {
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down =
        diagonal === -edits ||
        (diagonal !== edits && (frontier[offset + diagonal - 1] ?? 0) < (frontier[offset + diagonal + 1] ?? 0));
      let x = down ? (frontier[offset + diagonal + 1] ?? 0) : (frontier[offset + diagonal - 1] ?? 0) + 1;
      while (x < base.length && x - diagonal < other.length && base[x] === other[x - diagonal]) ++x;
      frontier[offset + diagonal] = x;
      if (x >= base.length && x - diagonal >= other.length) return walkBack(history, base.length, other.length);
    }
    history.push(frontier.slice(offset - edits - 1, offset + edits + 2));
  }
  return null;
}

function walkBack(history: Int32Array[], baseLength: number, otherLength: number): [number, number][] {
  const pairs: [number, number][] = [];
  let x = baseLength;
  let y = otherLength;
  for (let edits = history.length; edits > 0; --edits) {
    // The frontier after `edits - 1` edits, centred on diagonal 0.
    const before = history[edits - 1] ?? new Int32Array();
    const reach = (diagonal: number): number => before[diagonal + edits] ?? -1;
    const diagonal = x - y;
    const down = diagonal === -edits || (diagonal !== edits && reach(diagonal - 1) < reach(diagonal + 1));
    const previous = down ? diagonal + 1 : diagonal - 1;
    const startX = reach(previous);
    const startY = startX - previous;
    const afterX = down ? startX : startX + 1;
    while (x > afterX) pairs.push([--x, --y]);
    x = startX;
    y = startY;
  }
  while (x > 0 && y > 0) pairs.push([--x, --y]);
  return pairs.reverse();
}

function matchesOf(base: string[], other: string[]): Match[] {
  const matches: Match[] = [];
  for (const [left, right] of commonLines(base, other) ?? []) {
    const last = matches.at(-1);
    if (last && last.base + last.length === left && last.other + last.length === right) ++last.length;
    else matches.push({ base: left, other: right, length: 1 });
  }
  return matches;
}

/** Where the line of the base is in a version; -1 if it was changed there. */
function placesIn(matches: Match[], length: number): Int32Array {
  const places = new Int32Array(length).fill(-1);
  for (const match of matches) {
    for (let at = 0; at < match.length; ++at) places[match.base + at] = match.other + at;
  }
  return places;
}

export interface Merged {
  text: string;
  conflicts: number;
}

/** What both versions changed in different ways is in the result twice, between marks. */
export function mergeTexts(base: string, mine: string, theirs: string): Merged {
  const lines = [base, mine, theirs].map((text) => text.split('\n')) as [string[], string[], string[]];
  const [baseLines, mineLines, theirLines] = lines;
  const inMine = placesIn(matchesOf(baseLines, mineLines), baseLines.length);
  const inTheirs = placesIn(matchesOf(baseLines, theirLines), baseLines.length);
  const out: string[] = [];
  let conflicts = 0;
  let [atBase, atMine, atTheirs] = [0, 0, 0];

  const close = (baseEnd: number, mineEnd: number, theirEnd: number): void => {
    const before = baseLines.slice(atBase, baseEnd);
    const left = mineLines.slice(atMine, mineEnd);
    const right = theirLines.slice(atTheirs, theirEnd);
    const same = (one: string[], two: string[]): boolean => one.length === two.length && one.every((l, i) => l === two[i]);
    if (same(left, right) || same(before, right)) out.push(...left);
    else if (same(before, left)) out.push(...right);
    else {
      ++conflicts;
      out.push('<<<<<<< mine', ...left, '=======', ...right, '>>>>>>> on disk');
    }
  };

  for (let line = 0; line < baseLines.length; ++line) {
    const mineAt = inMine[line] ?? -1;
    const theirAt = inTheirs[line] ?? -1;
    if (mineAt < 0 || theirAt < 0) continue;
    close(line, mineAt, theirAt);
    out.push(baseLines[line] ?? '');
    [atBase, atMine, atTheirs] = [line + 1, mineAt + 1, theirAt + 1];
  }
  close(baseLines.length, mineLines.length, theirLines.length);
  return { text: out.join('\n'), conflicts };
}
