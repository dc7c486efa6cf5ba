import { useEffect, useState } from 'react';
import type { Part } from '../../../../src/schemas/content.ts';

/** How content can be shown. */
export type MediaKind = 'image' | 'audio' | 'video' | 'html' | 'markdown' | 'json' | 'text' | 'link' | 'binary';

const textTypes = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript|toml|sql)|.*\+(?:json|xml)$)/;

export function kindOf(mimeType: string, isLink = false): MediaKind {
  const type = mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (isLink) return 'link';
  if (type.startsWith('image/')) return 'image';
  if (type.startsWith('audio/') && !type.startsWith('audio/pcm')) return 'audio';
  if (type.startsWith('video/')) return 'video';
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  if (type === 'text/markdown') return 'markdown';
  if (type === 'application/json' || type.endsWith('+json')) return 'json';
  return textTypes.test(type) ? 'text' : 'binary';
}

/** The content of an artifact: its bytes, or the address that it refers to. */
export interface Content {
  readonly mimeType: string;
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  readonly uri: string | undefined;
}

export function contentOf({ inlineData, text, fileData }: Part): Content {
  if (inlineData) return { mimeType: inlineData.mimeType, bytes: bytesOf(inlineData.data), uri: undefined };
  if (text !== undefined) return { mimeType: 'text/plain', bytes: encoder.encode(text), uri: undefined };
  return { mimeType: fileData?.mimeType ?? '', bytes: undefined, uri: fileData?.fileUri };
}

const encoder = new TextEncoder();

/** From base64 in either alphabet. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}

export const textIn = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** An object URL of the bytes, while it is shown. */
export function useObjectUrl(bytes: Uint8Array<ArrayBuffer> | undefined, mimeType: string): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!bytes) return undefined;
    const made = URL.createObjectURL(new Blob([bytes], { type: mimeType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, mimeType]);
  return url;
}

/** A chosen file, as a part to save. */
export async function partOf(file: File): Promise<Part> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  const blockSize = 0x8000; // more arguments at once overflow the stack
  for (let start = 0; start < bytes.length; start += blockSize) {
    binary += String.fromCharCode(...bytes.subarray(start, start + blockSize));
  }
  return { inlineData: { mimeType: file.type || 'application/octet-stream', data: btoa(binary) } };
}
