/** One frame of an event stream as our wire allows it. */
export interface SseFrame {
  /** The parsed JSON of the `data: ` line. */
  readonly data: Record<string, unknown>;
  /** The text of that line after `data: `, byte for byte. */
  readonly json: string;
  /** The `id: ` line of a resumable stream. */
  readonly id?: string;
}

/** Reads one block between blank lines; a block of comments only gives nothing. Throws on anything else. */
function readBlock(block: string): SseFrame | undefined {
  const lines = block.split('\n').filter((line) => !line.startsWith(':'));
  if (lines.length === 0) return undefined;
  const id = lines[0]!.startsWith('id: ') ? lines.shift()!.slice('id: '.length) : undefined;
  const [line, ...more] = lines;
  if (line === undefined || more.length > 0 || !line.startsWith('data: ')) {
    throw new Error(`Not a frame of one "data: " line: ${JSON.stringify(block)}`);
  }
  const json = line.slice('data: '.length);
  const data: unknown = JSON.parse(json);
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw new Error(`A frame holds no JSON object: ${json}`);
  }
  return { data: data as Record<string, unknown>, json, ...(id === undefined ? {} : { id }) };
}

/**
 * Splits a stream strictly: every frame is an optional `id: ` line, one `data: ` line with a JSON object and a blank
 * line, LF only; comments are skipped. `rest` is the begun block that has not ended yet.
 */
export function readFrames(text: string): { frames: SseFrame[]; rest: string } {
  if (text.includes('\r')) throw new Error('The stream holds a CR');
  const blocks = text.split('\n\n');
  const rest = blocks.pop()!;
  return { frames: blocks.flatMap((block) => readBlock(block) ?? []), rest };
}
