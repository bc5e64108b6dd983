/** A place of a program as events and the stack name it: FILE:LINE:COLUMN. */
export interface Place {
  file: string;
  line: number;
}

export function placeOf(text: string): Place | null {
  const found = /^(.*):(\d+):\d+$/.exec(text);
  return found ? { file: found[1] ?? '', line: Number(found[2]) } : null;
}

/** The line of the place, if it is in that file. */
export function lineIn(file: string, place: string | undefined): number | null {
  const found = place === undefined ? null : placeOf(place);
  return found && found.file === file ? found.line : null;
}
