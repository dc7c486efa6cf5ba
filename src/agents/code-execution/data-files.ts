import { isJsonObject } from '../../base/json.ts';
import type { CodeFile } from '../../core/code-executor.ts';
import { newEvent } from '../../core/events/new-event.ts';
import type { RunContext } from '../../core/runtime.ts';
import type { Content, Part } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import { supportsLanguage } from './code-blocks.ts';
import { type LocalExecutor, runCode } from './code-execution.ts';

const contextKey = '_code_execution_context';
const dataTypes = new Set(['text/csv']);

/** The data files in the user's messages, named by message and part number, so that names stay stable. */
export function dataFilesIn(events: readonly Event[]): CodeFile[] {
  const files: CodeFile[] = [];
  let message = 0;
  for (const { author, content } of events) {
    if (author !== 'user' || !content) continue;
    message += 1;
    files.push(...content.parts.flatMap((part, index) => fileOf(part, message, index)));
  }
  return files;
}

function fileOf({ inlineData }: Part, message: number, index: number): CodeFile[] {
  if (!inlineData || !dataTypes.has(inlineData.mimeType)) return [];
  return [{ name: `data_${message}_${index + 1}.csv`, mimeType: inlineData.mimeType, data: inlineData.data }];
}

/** The contents with each data file replaced by its name; the model reads the file through code. */
export function withFileNames(contents: readonly Content[], files: readonly CodeFile[]): Content[] {
  const names = new Map(files.map(({ data, name }) => [data, name]));
  return contents.map((content) => {
    if (!content.parts.some(({ inlineData }) => inlineData && names.has(inlineData.data))) return content;
    const parts = content.parts.map((part): Part => {
      const name = part.inlineData && names.get(part.inlineData.data);
      return name === undefined ? part : { text: `The file \`${name}\` is available to code.` };
    });
    return { ...content, parts };
  });
}

/** Describes each new data file with built-in code before the model call. Yields two events per file: the code and its result. */
export async function* exploreFiles(
  executor: LocalExecutor,
  files: readonly CodeFile[],
  ctx: RunContext,
): AsyncGenerator<Event, void, void> {
  if (!supportsLanguage(executor, 'PYTHON')) return;
  for (const file of files) {
    const explored = exploredIn(ctx);
    if (explored.includes(file.name)) continue;
    const code = { code: explorationOf(file.name), language: 'PYTHON' };
    yield newEvent(ctx, ctx.agent.name, {
      content: { role: 'model', parts: [{ text: `Looking into \`${file.name}\`.` }, { executableCode: code }] },
    });
    const result = await runCode(executor, code, files, ctx);
    const processed_input_files = [...explored, file.name];
    const context = { execution_session_id: ctx.session.id, processed_input_files };
    result.actions.stateDelta[contextKey] = context;
    yield result;
  }
}

function exploredIn({ session }: RunContext): string[] {
  const context = session.state[contextKey];
  const names = isJsonObject(context) ? context['processed_input_files'] : undefined;
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

/** Uses the standard library only: a sandbox may have nothing else. */
const explorationOf = (name: string): string => `import csv

with open(${JSON.stringify(name)}, newline="", encoding="utf-8-sig") as file:
    rows = list(csv.DictReader(file))
columns = list(rows[0]) if rows else []
print(f"{len(rows)} rows, {len(columns)} columns")
for column in columns:
    values = [row[column] for row in rows]
    print(f"- {column}: {sum(not value for value in values)} missing, e.g. {list(dict.fromkeys(filter(None, values)))[:3]}")
for row in rows[:5]:
    print(row)
`;
