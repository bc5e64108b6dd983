import { useSignal } from '@preact/signals';
import { api } from '../api/client';
import type { ByteRange, SitePrompt } from '../api/types';
import type { OpenProgram } from '../state/program';
import { Marked } from '../text';
import { useAsked } from './asked';

function Prompt({ prompt }: { prompt: SitePrompt }) {
  return (
    <section class="site-prompt" aria-label={`${prompt.kind} ${prompt.function}, line ${prompt.line}`}>
      <p class="hint">
        {prompt.kind} <code>{prompt.function}</code>, line {prompt.line}
        {prompt.note && ` ${prompt.note}`}
      </p>
      <ol class="messages">
        {prompt.messages.map((message, index) => (
          <li key={index}>
            <span class="message-role">{message.role}</span>
            <pre>
              <Marked text={message.text} />
            </pre>
          </li>
        ))}
        <li>
          <span class="message-role">answer</span>
          <pre>{prompt.schema ? JSON.stringify(prompt.schema, null, 2) : 'text'}</pre>
        </li>
      </ol>
      {prompt.other_forms > 0 && (
        <p class="hint">The answer can also have {prompt.other_forms === 1 ? 'another form' : `${prompt.other_forms} other forms`}.</p>
      )}
    </section>
  );
}

/** What a model would be sent within a part of the program, as far as it is known before a run. */
export function Prompts({ program, range }: { program: OpenProgram; range: ByteRange }) {
  const isOpen = useSignal(false);
  const asked = useAsked(program, isOpen.value, api.prompts).value;
  const [first, last] = program.linesOf(range);
  const prompts = asked?.prompts.filter(({ line }) => first <= line && line <= last) ?? [];
  return (
    <section class="prompts" aria-label="Prompt as it would be sent">
      <button type="button" class="disclosure" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
        {isOpen.value ? '▾' : '▸'} Prompt as it would be sent
      </button>
      {isOpen.value && asked?.has_errors && <p class="hint">The program has errors. What is sent is known once it has none.</p>}
      {isOpen.value && asked && !asked.has_errors && prompts.length === 0 && <p class="hint">No model is asked here.</p>}
      {isOpen.value && prompts.map((prompt, index) => <Prompt key={index} prompt={prompt} />)}
    </section>
  );
}
