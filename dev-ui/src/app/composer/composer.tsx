import { ArrowUp, Paperclip, Square } from 'lucide-react';
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import type { Content, Part } from '../../../../src/schemas/content.ts';
import { ApiError } from '../../api/server.ts';
import { announce } from '../announce.tsx';
import { changeSettings, useSettings } from '../settings.ts';
import { Attachments, partOfFile } from './attachments.tsx';
import { readDraft, useDraft } from './draft.ts';
import { messageFrom } from './message.ts';

interface ComposerProps {
  readonly running: boolean;
  readonly onSend: (message: Content) => void;
  readonly onStop: () => void;
  /** Why the server did not accept the last message. */
  readonly failure: unknown;
  readonly placeholder?: string;
  readonly autoFocus?: boolean;
  /** Buttons left of Send. */
  readonly children?: ReactNode;
  readonly disabled?: boolean;
}

const promptsKept = 50;
/** The key code of an input method while it composes, in browsers without `isComposing`. */
const composingKeyCode = 229;

/** The composer of a message: text or JSON; files by button, paste or drop; earlier messages with ↑. */
export function Composer(props: ComposerProps) {
  const { running, onSend, onStop, failure, placeholder = 'Message', autoFocus, children, disabled = false } = props;
  const [text, setText] = useState(readDraft);
  const [sent, setSent] = useState('');
  const [parts, setParts] = useState<readonly Part[]>([]);
  const prompts = useSettings((state) => state.prompts);
  const [recalled, setRecalled] = useState<number>();
  const area = useRef<HTMLTextAreaElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const isLoggedOut = failure instanceof ApiError && failure.status === 401;
  useDraft(text === '' && isLoggedOut ? sent : text);
  const isEmpty = text.trim() === '' && parts.length === 0;

  const send = (): void => {
    if (running || isEmpty || disabled) return;
    onSend(messageFrom(text, parts));
    if (text.trim() !== '') {
      const earlier = prompts.filter((prompt) => prompt !== text);
      changeSettings({ prompts: [...earlier, text].slice(-promptsKept) });
    }
    setSent(text);
    setText('');
    setParts([]);
    setRecalled(undefined);
  };
  const attach = async (list: Iterable<File>): Promise<void> => {
    const added = await Promise.all([...list].map(partOfFile));
    setParts((before) => [...before, ...added]);
    announce(`${added.length} attached`);
  };
  const recall = (event: KeyboardEvent, step: number): void => {
    const next = (recalled ?? prompts.length) + step;
    if (next < 0 || next > prompts.length) return;
    event.preventDefault();
    setRecalled(next);
    setText(prompts[next] ?? '');
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.nativeEvent.isComposing || event.keyCode === composingKeyCode) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === 'ArrowUp' && (text === '' || recalled !== undefined)) recall(event, -1);
    else if (event.key === 'ArrowDown' && recalled !== undefined) recall(event, 1);
    else if (event.key === 'Escape') area.current?.blur();
  };
  const onPaste = (event: ClipboardEvent): void => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    void attach(event.clipboardData.files);
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    void attach(event.dataTransfer.files);
  };

  return (
    <div className="composer" onDrop={onDrop} onDragOver={(event) => event.preventDefault()}>
      <Attachments parts={parts} onRemove={(index) => setParts(parts.filter((_, at) => at !== index))} />
      <textarea
        ref={area}
        id="composer"
        className="composer-text"
        aria-label="Message"
        placeholder={placeholder}
        rows={1}
        value={text}
        autoFocus={autoFocus}
        disabled={disabled}
        onChange={(event) => {
          setText(event.target.value);
          setRecalled(undefined);
        }}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div className="row composer-bar">
        <input
          ref={files}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            void attach(event.target.files ?? []);
            event.target.value = '';
          }}
        />
        <button
          type="button"
          className="icon-button"
          aria-label="Attach files"
          title="Attach files"
          disabled={disabled}
          onClick={() => files.current?.click()}
        >
          <Paperclip size={16} aria-hidden />
        </button>
        {children}
        <span className="grow" />
        {running ? (
          <button type="button" className="button small stop" onClick={onStop} title="Stop (.)">
            <Square size={12} aria-hidden /> Stop
          </button>
        ) : (
          <button
            type="button"
            className="button primary small"
            aria-label="Send"
            disabled={isEmpty || disabled}
            onClick={send}
          >
            <ArrowUp size={14} aria-hidden /> Send
          </button>
        )}
      </div>
    </div>
  );
}
