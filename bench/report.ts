export interface Row {
  readonly name: string;
  readonly figure: string;
  /** What the yardstick did in the same minute. */
  readonly bare?: string;
  readonly ratio?: string;
  readonly goal?: Goal;
}

export interface Goal {
  readonly text: string;
  readonly met: boolean;
}

const HEADINGS = ['case', 'agent-server', 'bare', 'ratio', 'goal', ''];

/** Prints the rows as one table and says how many goals are missed. */
export function printReport(rows: readonly Row[]): number {
  const cells = rows.map((row) => [
    row.name,
    row.figure,
    row.bare ?? '',
    row.ratio ?? '',
    row.goal?.text ?? '',
    row.goal === undefined ? '' : row.goal.met ? 'PASS' : 'FAIL',
  ]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => row[column]!.length)),
  );
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ');
  console.log(line(HEADINGS).trimEnd());
  console.log(widths.map((width) => '-'.repeat(width)).join('  '));
  for (const row of cells) console.log(line(row).trimEnd());
  const missed = rows.filter((row) => row.goal?.met === false).length;
  const goals = rows.filter((row) => row.goal !== undefined).length;
  console.log(`\n${goals - missed} of ${goals} goals met.`);
  return missed;
}

export const count = (value: number): string => Math.round(value).toLocaleString('en-US');
export const percent = (value: number): string => `${(value * 100).toFixed(0)} %`;
export const times = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} x`;
export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
export const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
