import { type FormEvent, useState } from 'react';
import { create } from 'zustand';
import { Dialog } from '../parts/dialog.tsx';

interface Prompt {
  readonly title: string;
  readonly label: string;
  readonly action: string;
  readonly value?: string;
  /** Allows several lines. */
  readonly long?: boolean;
  readonly onSubmit: (text: string) => void;
}

const usePrompt = create(() => ({ prompt: undefined as Prompt | undefined }));

/** Asks for one text in a dialog. */
export const prompt = (one: Prompt): void => usePrompt.setState({ prompt: one });

/** Where the question appears. */
export function Prompts() {
  const one = usePrompt((state) => state.prompt);
  return one ? <PromptDialog key={one.title} prompt={one} /> : null;
}

function PromptDialog({ prompt: { title, label, action, value = '', long = false, onSubmit } }: { prompt: Prompt }) {
  const [text, setText] = useState(value);
  const close = (): void => usePrompt.setState({ prompt: undefined });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    close();
    onSubmit(text);
  };
  const field = { className: 'input', value: text, autoFocus: true };
  return (
    <Dialog title={title} onClose={close}>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>{label}</span>
          {long ? (
            <textarea {...field} rows={6} onChange={(event) => setText(event.target.value)} />
          ) : (
            <input {...field} onChange={(event) => setText(event.target.value)} />
          )}
        </label>
        <div className="row end">
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={text.trim() === ''}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
