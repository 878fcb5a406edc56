/**
 * What ends with each test, and with each test file. Files that share a process share its modules, so a support module
 * runs once for all of them: a hook of Vitest's would be registered for the first only. `setup.ts` registers for each.
 */
type End = () => unknown;

const ofTests: End[] = [];
const ofFiles: End[] = [];

/** Runs after each test, of whichever file. */
export function endsWithTest(end: End): void {
  ofTests.push(end);
}

/** Runs after each test file. */
export function endsWithFile(end: End): void {
  ofFiles.push(end);
}

export const endTest = (): Promise<void> => runAll(ofTests);
export const endFile = (): Promise<void> => runAll(ofFiles);

/** In Vitest's own order: what was registered last ends first. */
async function runAll(ends: readonly End[]): Promise<void> {
  const failed: unknown[] = [];
  for (const end of ends.toReversed()) {
    try {
      await end();
    } catch (error) {
      failed.push(error);
    }
  }
  if (failed.length > 0) throw new AggregateError(failed, "the end of a test failed");
}
