import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Content, FunctionCall } from '../../../../src/schemas/content.ts';
import type { Invocation } from '../../../../src/schemas/evaluation/eval-set.ts';
import { callsOf, textOf } from './case-result.tsx';

interface TurnEditorProps {
  readonly number: number;
  readonly turn: Invocation;
  readonly onChange: (turn: Invocation) => void;
  /** Called with true when the input cannot be saved. */
  readonly onFault: (isFaulty: boolean) => void;
  readonly onRemove?: () => void;
}

/** One turn: the user message, the expected tool calls, and the expected final response. */
export function TurnEditor({ number, turn, onChange, onFault, onRemove }: TurnEditorProps) {
  const [calls, setCalls] = useState(() => callsText(callsOf(turn)));
  const parsed = parseCalls(calls);
  const changeCalls = (text: string): void => {
    setCalls(text);
    const toolUses = parseCalls(text);
    onFault(toolUses === undefined);
    // From now on the calls are a list: the events they came with no longer fit them.
    if (toolUses) onChange({ ...turn, intermediateData: { toolUses } });
  };
  return (
    <fieldset className="turn-card">
      <legend className="visually-hidden">Turn {number}</legend>
      <header className="row">
        <h2 className="grow">Turn {number}</h2>
        {onRemove && (
          <button type="button" className="icon-button" aria-label={`Remove turn ${number}`} onClick={onRemove}>
            <Trash2 size={14} aria-hidden />
          </button>
        )}
      </header>
      <label className="field">
        <span>User message</span>
        <textarea
          className="input"
          value={textOf(turn.userContent)}
          onChange={(event) =>
            onChange({ ...turn, userContent: withText(turn.userContent, event.target.value, 'user') })
          }
        />
      </label>
      <label className="field">
        <span>Expected tool calls, one per line: name and arguments as JSON</span>
        <textarea
          className="input mono"
          spellCheck={false}
          value={calls}
          placeholder={'get_weather {"city": "Paris"}'}
          aria-invalid={parsed === undefined}
          onChange={(event) => changeCalls(event.target.value)}
        />
        {parsed === undefined && <span className="error-text">Each line must be a name and a JSON object</span>}
      </label>
      <label className="field">
        <span>Expected final response</span>
        <textarea
          className="input"
          value={textOf(turn.finalResponse)}
          onChange={(event) =>
            onChange({ ...turn, finalResponse: withText(turn.finalResponse, event.target.value, 'model') })
          }
        />
      </label>
    </fieldset>
  );
}

/** The content with another text; parts that are no text, such as files, stay. */
function withText(content: Content | undefined, text: string, role: string): Content {
  const others = (content?.parts ?? []).filter((part) => part.text === undefined);
  return { ...content, role: content?.role ?? role, parts: [{ text }, ...others] };
}

const callsText = (calls: readonly FunctionCall[]): string =>
  calls.map(({ name, args = {} }) => `${name} ${JSON.stringify(args)}`).join('\n');

/** The calls of a text, a line each; `undefined` when a line is none. */
function parseCalls(text: string): FunctionCall[] | undefined {
  const calls: FunctionCall[] = [];
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, name = '', json = ''] = /^\s*(\S+)\s*(.*)$/.exec(line) ?? [];
    try {
      const args: unknown = json.trim() === '' ? {} : JSON.parse(json);
      if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
      calls.push({ name, args: args as Record<string, unknown> });
    } catch {
      return undefined;
    }
  }
  return calls;
}
