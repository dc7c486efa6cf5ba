import { faultsOf, outcomeOf, scoreText } from '../evaluation/case-outcome.ts';
import type { EvalCaseResult, EvalSetResult, RunComparison } from '../schemas/evaluation/eval-result.ts';

const marks = { passed: 'ok', failed: 'FAIL', error: 'ERROR' } as const;

/** The results of a set as a table: a row for each case, and below it the reasons if it did not pass. */
export function tableOf({ evalSetId, evalCaseResults, spread = [], cancelled }: EvalSetResult): string {
  const names = [...new Set(evalCaseResults.flatMap((one) => one.overallEvalMetricResults.map((m) => m.metricName)))];
  const rows = evalCaseResults.map((one) => [
    marks[outcomeOf(one)],
    caseName(one),
    ...names.map((name) => cell(one, name)),
  ]);
  const head = ['', evalSetId, ...names];
  const widths = head.map((title, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? title).length)));
  const line = (row: readonly string[]): string =>
    row
      .map((text, column) => (column < 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  const passed = evalCaseResults.filter((one) => outcomeOf(one) === 'passed').length;
  return [
    line(head),
    ...evalCaseResults.flatMap((one, index) => [
      line(rows[index] ?? []),
      ...faultsOf(one).map((fault) => `       ${fault}`),
    ]),
    ...spread.map(
      ({ evalId, metricName, runs, passed: good, mean, min, max, deviation }) =>
        `${evalId}: ${metricName} ${scoreText(mean)} ± ${scoreText(deviation)} (${scoreText(min)} to ${scoreText(max)}), ${good} of ${runs} passed`,
    ),
    `${passed} of ${evalCaseResults.length} passed${cancelled === true ? ', then cancelled' : ''}`,
    '',
  ].join('\n');
}

function cell({ overallEvalMetricResults }: EvalCaseResult, metricName: string): string {
  const score = overallEvalMetricResults.find((one) => one.metricName === metricName)?.score;
  return score === undefined ? '-' : scoreText(score);
}

const caseName = ({ evalId, repetition = 1 }: EvalCaseResult): string =>
  repetition > 1 ? `${evalId} (${repetition})` : evalId;

/** What changed since an earlier run, worst first. */
export function changesText({ before, counts, cases }: RunComparison): string {
  const lines = cases
    .filter(({ change }) => change !== 'same')
    .flatMap(({ evalId, change, metrics }) => [
      `${change.padEnd(9)}  ${evalId}`,
      ...metrics
        .filter((metric) => metric.change === 'regressed')
        .map(
          (metric) =>
            `           ${metric.metricName} ${scoreText(metric.before ?? 0)} → ${scoreText(metric.after ?? 0)}`,
        ),
    ]);
  const summary = Object.entries(counts).map(([change, count]) => `${count} ${change}`);
  return [`Since ${before}: ${summary.join(', ')}`, ...lines, ''].join('\n');
}

/** The results as a JUnit report: a suite for each set, a test case for each case. */
export function junitOf(appName: string, results: readonly EvalSetResult[]): string {
  const suites = results.map(({ evalSetId, evalCaseResults }) => {
    const cases = evalCaseResults.map((one) => testCase(`${appName}.${evalSetId}`, one));
    const count = (outcome: string): number => evalCaseResults.filter((one) => outcomeOf(one) === outcome).length;
    const seconds = evalCaseResults.reduce((sum, one) => sum + secondsOf(one), 0);
    const numbers = `tests="${cases.length}" failures="${count('failed')}" errors="${count('error')}" time="${seconds.toFixed(3)}"`;
    return [`  <testsuite name="${xml(`${appName}.${evalSetId}`)}" ${numbers}>`, ...cases, '  </testsuite>'].join('\n');
  });
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites>', ...suites, '</testsuites>', ''].join('\n');
}

function testCase(suite: string, result: EvalCaseResult): string {
  const outcome = outcomeOf(result);
  const open = `    <testcase classname="${xml(suite)}" name="${xml(caseName(result))}" time="${secondsOf(result).toFixed(3)}"`;
  if (outcome === 'passed') return `${open}/>`;
  const faults = faultsOf(result);
  const tag = outcome === 'failed' ? 'failure' : 'error';
  const body = `      <${tag} message="${xml(faults[0] ?? '')}">${xml(faults.join('\n'))}</${tag}>`;
  return [`${open}>`, body, '    </testcase>'].join('\n');
}

const secondsOf = ({ evalMetricResultPerInvocation: turns }: EvalCaseResult): number =>
  turns.reduce((sum, { actualInvocation }) => sum + (actualInvocation.duration ?? 0), 0);

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for XML. Control characters are replaced: XML allows them not even escaped. */
const xml = (text: string): string =>
  text
    .toWellFormed()
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? sign);
