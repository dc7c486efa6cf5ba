import { File as FileIcon, X } from 'lucide-react';
import type { Part } from '../../../../src/schemas/content.ts';
import { shownBytes } from '../../parts/numbers.ts';

/** The ratio of base64 to the bytes it encodes. */
const base64Growth = 4 / 3;

/** A file as a part of a message. */
export async function partOfFile(file: File): Promise<Part> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  const mimeType = file.type === '' ? 'application/octet-stream' : file.type;
  return { inlineData: { mimeType, data: btoa(binary), displayName: file.name } };
}

interface AttachmentsProps {
  readonly parts: readonly Part[];
  readonly onRemove: (index: number) => void;
}

/** Attachments of the message. */
export function Attachments({ parts, onRemove }: AttachmentsProps) {
  if (parts.length === 0) return null;
  return (
    <ul className="attachments" aria-label="Attachments">
      {parts.map(({ inlineData }, index) => (
        <li key={`${inlineData?.displayName}-${index}`} className="attachment">
          {inlineData?.mimeType.startsWith('image/') ? (
            <img src={`data:${inlineData.mimeType};base64,${inlineData.data}`} alt="" />
          ) : (
            <FileIcon size={16} aria-hidden />
          )}
          <span className="truncate">{inlineData?.displayName}</span>
          <span className="meta">{shownBytes((inlineData?.data.length ?? 0) / base64Growth)}</span>
          <button
            type="button"
            className="icon-button"
            aria-label={`Remove ${inlineData?.displayName}`}
            onClick={() => onRemove(index)}
          >
            <X size={14} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  );
}
