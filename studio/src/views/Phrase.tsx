/** A phrase of the palette, with its code between backticks. */
export function Phrase({ text }: { text: string }) {
  return <span class="hint">{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</span>;
}
