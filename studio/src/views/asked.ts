import { useSignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { noteError } from '../state/live';
import type { OpenProgram } from '../state/program';

/** What the server answers about the described text; asked again when there is another one. */
export function useAsked<Answer>(
  program: OpenProgram,
  wanted: boolean,
  ask: (name: string, text: string) => Promise<Answer>,
): Signal<Answer | null> {
  const answer = useSignal<Answer | null>(null);
  const described = program.described.value;
  useEffect(() => {
    const text = wanted ? program.describedText() : null;
    if (text === null) return undefined;
    let isOld = false;
    ask(program.name, text).then((found) => {
      if (!isOld) answer.value = found;
    }, noteError);
    return () => void (isOld = true);
  }, [described, wanted]);
  return answer;
}
