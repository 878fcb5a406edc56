/**
 * What a test needs of the machine. Where it is missing the test is skipped, and the run names it at its end; in CI
 * (`CI=true`) the test runs all the same, and fails.
 */
const isCi = !["", "0", "false"].includes(process.env["CI"] ?? "");

export interface Need {
  readonly isSkipped: boolean;
  /** Why, for the test's name; empty where it runs. */
  readonly why: string;
}

export function need(what: string, isThere: boolean): Need {
  const isSkipped = !isThere && !isCi;
  return { isSkipped, why: isSkipped ? ` (skipped: no ${what})` : "" };
}
