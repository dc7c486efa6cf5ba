import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { diskFailure } from '../../base/disk-failure.ts';
import { AppError, errorText } from '../../base/errors.ts';
import { responseSchema } from '../../schemas/event-schema.ts';
import { lenient } from '../../schemas/lenient.ts';
import { camelKeys, snakeKeys } from './key-case.ts';

const jsonObject = z.record(z.string(), z.unknown());
const Response = responseSchema();
const LlmRecording = lenient({
  llmRequest: jsonObject.optional(),
  /** ADK up to 1.19 wrote one response, later versions a list. */
  llmResponse: Response.optional(),
  llmResponses: z.array(Response).optional(),
});
const ToolRecording = lenient({
  toolCall: lenient({ id: z.string().optional(), name: z.string(), args: jsonObject.optional() }),
  toolResponse: lenient({
    id: z.string().optional(),
    name: z.string().optional(),
    response: jsonObject.optional(),
  }).optional(),
});

/** One model or tool call of a recorded conversation, in the format of the ADK conformance tests. */
export const Recording = lenient({
  userMessageIndex: z.number().int(),
  agentName: z.string(),
  llmRecording: LlmRecording.optional(),
  toolRecording: ToolRecording.optional(),
});
export type Recording = z.infer<typeof Recording>;

const Cassette = lenient({ recordings: z.array(Recording).default([]) });

const plain = 'generated-recordings.yaml';
const streamed = 'generated-recordings-sse.yaml';
const derived = 'generated-recordings.derived.yaml';

/** Identifies a cassette: folder `dir` below `root`, with a separate file for streamed conversations. */
export interface CassettePlace {
  readonly root: string;
  readonly dir: string;
  readonly streaming: boolean;
}

/** The recordings in time order. Throws ConfigurationException when the file is missing, not a cassette, or outside its root. */
export async function readCassette(place: CassettePlace): Promise<Recording[]> {
  const folder = await cassetteFolder(place);
  try {
    const text = await readFirst(folder, namesFor(place.streaming));
    return Cassette.parse(camelKeys(parse(text, { maxAliasCount: 100 }))).recordings;
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : errorText(error).split('\n')[0];
    throw new AppError('ConfigurationException', `No cassette can be read in "${place.dir}": ${hidePath(why, place)}`, {
      cause: error,
    });
  }
}

/** Writes all recordings of a conversation at once, so that a reader never sees half a file. */
export async function writeCassette(place: CassettePlace, recordings: readonly Recording[]): Promise<void> {
  const folder = resolve(place.root, place.dir);
  if (!inside(resolve(place.root), folder)) throw outside(place);
  try {
    await mkdir(folder, { recursive: true });
    await replaceFile(join(await cassetteFolder(place), place.streaming ? streamed : plain), recordings);
  } catch (error) {
    throw diskFailure(error, 'The disk of the cassettes') ?? error;
  }
}

async function replaceFile(file: string, recordings: readonly Recording[]): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(draft, stringify(snakeKeys({ recordings }), { lineWidth: 0, aliasDuplicateObjects: false }));
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

async function cassetteFolder(place: CassettePlace): Promise<string> {
  const root = await realpath(place.root);
  const folder = await realpath(resolve(root, place.dir)).catch(() => undefined);
  if (!folder || !inside(root, folder)) throw outside(place);
  return folder;
}

/** A streamed conversation falls back to the recording without streaming: both store the same events. */
const namesFor = (streaming: boolean): string[] => (streaming ? [streamed, plain, derived] : [plain, derived]);

async function readFirst(folder: string, names: readonly string[]): Promise<string> {
  for (const name of names.slice(0, -1)) {
    try {
      return await readFile(join(folder, name), 'utf8');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  return readFile(join(folder, names.at(-1) ?? plain), 'utf8');
}

function inside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && dirname(way) !== way);
}

const outside = (place: CassettePlace): AppError =>
  new AppError('ConfigurationException', `"${place.dir}" is not a folder below the cassette folder of this server`);

function hidePath(text: string | undefined, place: CassettePlace): string {
  return (text ?? '').replaceAll(resolve(place.root), '.');
}
