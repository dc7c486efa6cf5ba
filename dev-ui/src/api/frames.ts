/** One server-sent event: its `id:` line, when it has one, and its data. */
export interface Frame {
  readonly id: string | undefined;
  readonly data: string;
}

/** Reads the frames of an event stream as they arrive; frames that arrive together are returned together. */
export async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame[], void, void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      rest += read.value;
      const end = rest.lastIndexOf('\n\n');
      if (end < 0) continue;
      const frames = rest.slice(0, end).split('\n\n').map(frameOf);
      rest = rest.slice(end + 2);
      yield frames.filter((frame) => frame.data !== '');
    }
  } finally {
    reader.cancel().catch(() => {}); // closed or broken already
  }
}

function frameOf(text: string): Frame {
  if (text.startsWith('data: ') && !text.includes('\n')) return { id: undefined, data: text.slice(6) };
  let id: string | undefined;
  const data: string[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    else if (line.startsWith('id:')) id = line.slice(3).trim();
  }
  return { id, data: data.join('\n') };
}
