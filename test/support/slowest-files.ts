import type { Reporter, TestModule } from 'vitest/node';

/** Prints the ten files that took longest, with what they import and prepare. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const times = modules.map((module) => ({ name: module.relativeModuleId, ms: timeOf(module) }));
    times.sort((one, other) => other.ms - one.ms);
    process.stdout.write('\nThe ten slowest files:\n');
    for (const { name, ms } of times.slice(0, 10))
      process.stdout.write(`${(ms / 1000).toFixed(1).padStart(7)} s  ${name}\n`);
  }
}

function timeOf(module: TestModule): number {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  return environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration;
}
