/** How a kind of block is drawn: its group has a colour, itself an icon. The word is always there too. */
interface Look {
  group: 'model' | 'tool' | 'flow' | 'data' | 'output';
  /** Lines of an icon of 16 by 16. */
  icon: string;
}

const looks: Record<string, Look> = {
  core_loop: { group: 'model', icon: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3' },
  request: { group: 'model', icon: 'M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2zM5.5 7h5' },
  tool_call: { group: 'model', icon: 'M9.5 5.5a3 3 0 0 1 4-2.8l-2 2 .8 1.2 1.6-.4A3 3 0 0 1 10 8.3l-5 5-1.8-1.8 5-5M3 3l1 2M2 5l2 0' },
  reflect: { group: 'model', icon: 'M8 2v12M6 5l-3.5 3L6 11M10 5l3.5 3L10 11' },
  call: { group: 'tool', icon: 'M9.5 6a3 3 0 0 1 4-3l-2 2 1 1.5 1.5-.5a3 3 0 0 1-4 2.5l-5 5-2-2 5-5' },
  delegate: { group: 'tool', icon: 'M4 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM1.5 13c0-3 5-3 5 0M8.5 6h5M11.5 4l2 2-2 2' },
  route: { group: 'flow', icon: 'M8 14V9L3.5 4.5M8 9l4.5-4.5M3 7.5v-3.5h3.5M13 7.5v-3.5h-3.5' },
  for_each: { group: 'flow', icon: 'M2.5 4h2M2.5 8h2M2.5 12h2M7 4h6.5M7 8h6.5M7 12h6.5' },
  parallel: { group: 'flow', icon: 'M8 2v3M3.5 5h9M3.5 5v6M8 5v6M12.5 5v6M3.5 11h9M8 11v3' },
  set: { group: 'data', icon: 'M3 6h10M3 10h10' },
  compress: { group: 'data', icon: 'M8 1.5v4.5M6 4l2 2 2-2M8 14.5v-4.5M6 12l2-2 2 2M3 8h10' },
  edit_message: { group: 'data', icon: 'M3 13l.7-3L11 2.7l2.3 2.3L6 12.3zM9.5 4.2l2.3 2.3' },
  code: { group: 'data', icon: 'M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5' },
  emit: { group: 'output', icon: 'M2 8h9M8 4.5L11.5 8 8 11.5M14 3v10' },
  function: { group: 'data', icon: 'M10.5 3C8 2.5 8 4 7.5 8S7 13.5 4.5 13M5 7h5' },
  method: { group: 'data', icon: 'M10.5 3C8 2.5 8 4 7.5 8S7 13.5 4.5 13M5 7h5M12 12h1' },
  extern: { group: 'tool', icon: 'M6 3H3v10h10v-3M8.5 7.5L13.5 2.5M10 2.5h3.5V6' },
  agent: { group: 'model', icon: 'M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 14c0-5.5 10-5.5 10 0' },
  start: { group: 'flow', icon: 'M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z' },
  action: { group: 'tool', icon: 'M3 8h9M9 5l3 3-3 3' },
  'dead action': { group: 'data', icon: 'M4 4l8 8M12 4l-8 8' },
  goal: { group: 'output', icon: 'M4 14V2.5M4 3h8l-2 2.5L12 8H4' },
  report: { group: 'output', icon: 'M4 2h5.5L12.5 5v9H4zM9 2v3.5h3.5M6 8.5h4.5M6 11h4.5' },
};

export const groupOf = (kind: string): string => looks[kind]?.group ?? 'unknown';

export function KindIcon({ kind }: { kind: string }) {
  return (
    <svg class="kind-icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={looks[kind]?.icon ?? 'M6 6a2 2 0 1 1 2.5 2v1.5M8.4 12v.5'} />
    </svg>
  );
}
