import { existsSync, readFileSync, rmSync, writeSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

declare module 'vitest' {
  interface TaskMeta {
    /** Why a suite or test is skipped: `describe(name, { skip: true, meta: { skipReason } }, …)`. */
    skipReason?: string;
  }
}

const NO_REASON = ': no reason given';

type Counts = { passed: number; failed: number; skipped: number };

/**
 * Ends a run with `N passed, N failed` (and `, N skipped`) alone on the last line, which CI reads. Before it comes a line for each
 * skipped file, suite or test with its reason. Failures outside of tests count too, so the line agrees with the exit code: a file that
 * does not load, a hook, an unhandled error. A skip without a reason counts as a failure, unless the command line selects tests by name.
 * `crashReports` are the reports of report-crash.ts about processes that tests started. Each counts as one failure.
 */
export function createClosingLineReporter(crashReports?: string): Reporter {
  let watching = false;
  let chosenByName = false;
  return {
    onInit(vitest) {
      watching = vitest.config.watch;
      chosenByName = vitest.config.testNamePattern !== undefined;
    },
    onTestRunEnd(modules, unhandledErrors) {
      const skips = modules.flatMap(skipLines);
      const unexplained = chosenByName ? 0 : skips.filter((line) => line.endsWith(NO_REASON)).length;
      const crashes = takeCrashes(crashReports);
      if (unexplained + crashes.length > 0) process.exitCode = 1;
      const failedOutside = unhandledErrors.length + unexplained + crashes.length;
      const lines = [...crashes, ...skips, closingLine(modules, failedOutside)];
      const text = `${lines.join('\n')}\n`;
      // Other reporters and vitest itself print after this hook. Nothing prints after the exit handler.
      if (watching) process.stdout.write(text);
      else process.once('exit', () => writeAll(text));
    },
  };
}

type Crash = { readonly command: string; readonly origin: string; readonly reason: string };

function takeCrashes(file: string | undefined): readonly string[] {
  if (file === undefined || !existsSync(file)) return [];
  const reports = readFileSync(file, 'utf8').trim().split('\n');
  rmSync(file);
  return reports.map((report) => {
    const { command, origin, reason } = JSON.parse(report) as Crash;
    return `crashed (${origin}): ${command}\n${reason}`;
  });
}

function closingLine(modules: readonly TestModule[], failedOutside: number): string {
  const counts: Counts = { passed: 0, failed: failedOutside, skipped: 0 };
  for (const module of modules) {
    count(module, counts);
    for (const suite of module.children.allSuites()) count(suite, counts);
    for (const test of module.children.allTests()) counts[countedAs(test)] += 1;
  }
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  return `${counts.passed} passed, ${counts.failed} failed${skipped}`;
}

/** Counts a failure of a file or suite itself. The failures of its tests are counted separately. */
function count(container: TestModule | TestSuite, counts: Counts): void {
  if (container.errors().length > 0) counts.failed += 1;
}

/** Returns how a test counts. A test that did not finish failed: its worker died, or a hook before it failed. */
function countedAs(test: TestCase): keyof Counts {
  const { state } = test.result();
  return state === 'pending' ? 'failed' : state;
}

/** Returns one line for a part that was skipped completely, or else the lines of its parts. */
function skipLines(part: TestModule | TestSuite | TestCase): string[] {
  const tests = part.type === 'test' ? [part] : [...part.children.allTests()];
  const skipped = tests.length > 0 && tests.every((test) => test.result().state === 'skipped');
  if (skipped) return [`skipped ${nameOf(part)}${reasonOf(part, tests)}`];
  return part.type === 'test' ? [] : part.children.array().flatMap(skipLines);
}

function nameOf(part: TestModule | TestSuite | TestCase): string {
  return part.type === 'module'
    ? part.relativeModuleId
    : `${part.module.relativeModuleId} > ${part.fullName}`;
}

function reasonOf(part: TestModule | TestSuite | TestCase, tests: readonly TestCase[]): string {
  const suites = part.type === 'test' ? [] : [...part.children.allSuites()];
  const containers = part.type === 'test' ? [] : [part, ...suites];
  if (containers.some((each) => each.errors().length > 0)) return ': its setup failed';
  const given = [part, ...suites, ...tests].map((each) => each.meta().skipReason);
  const reason = [...given, ...tests.map(noteOf)].find((one) => one !== undefined && one !== '');
  return reason === undefined ? NO_REASON : `: ${reason}`;
}

function noteOf(test: TestCase): string | undefined {
  const result = test.result();
  return result.state === 'skipped' ? result.note : undefined;
}

/** Writes the whole text. A pipe may accept only a part at once. */
function writeAll(text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
}
