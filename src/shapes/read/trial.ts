import type { Outcome, Outcomes, Read, Reading } from "./reading.ts";

/** Adds to the second reading what there is to tell of trials that all went wrong. */
type Tell = (trials: readonly Reading[], reading: Reading, value: unknown) => void;

/**
 * Reads a value by the first of several shapes that finds nothing wrong with it.
 *
 * Where trials nest, every level would read the inner value once for each shape of the outer one, and a body of some
 * kilobytes would take years. So what comes of a value within a trial is kept until the body is read.
 */
export function firstThatFits(options: readonly Read[], tell: Tell): Read {
  return (value, reading) => {
    const { outcomes } = reading;
    if (outcomes === undefined || typeof value !== "object" || value === null) {
      return attempt(options, tell, value, reading);
    }
    const known = outcomesOf(outcomes, options);
    let outcome = known.get(value);
    if (outcome === undefined) {
      const found = reading.aside();
      outcome = { value: attempt(options, tell, value, found), found };
      known.set(value, outcome);
    }
    reading.take(outcome.found);
    return outcome.value;
  };
}

function outcomesOf(outcomes: Outcomes, options: object): WeakMap<object, Outcome> {
  let known = outcomes.get(options);
  if (known === undefined) outcomes.set(options, (known = new WeakMap()));
  return known;
}

function attempt(options: readonly Read[], tell: Tell, value: unknown, reading: Reading): unknown {
  const trials: Reading[] = [];
  for (const read of options) {
    const trial = reading.aside();
    const result = read(value, trial);
    if (trial.count === 0) return result;
    trials.push(trial);
  }
  tell(trials, reading, value);
  return undefined;
}
