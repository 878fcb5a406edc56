// The scripts of package.json set `USHER_TESTS`. `quick` is `npm test`: no program but this Node and the embedded PostgreSQL, no soak.
// `rest` is what `quick` leaves out, which `.ci/run` runs after it. `all` is both: `npm run test:all`, and `npx vitest run <file>`.
// `wide` is `npm run test:wide`: all, and what `wide.ts` has.
const runs = ["quick", "rest", "all", "wide"] as const;
export type Run = (typeof runs)[number];

const asked = process.env["USHER_TESTS"] || "all";
const found = runs.find((name) => name === asked);
if (found === undefined) throw new Error(`USHER_TESTS is ${asked}: give it one of ${runs.join(", ")}`);

export const run: Run = found;

/** Whether a person named the run; `npx vitest run <file>` names none. */
export const isNamed: boolean = Boolean(process.env["USHER_TESTS"]);
