import type { Readable, Writable } from "node:stream";
import * as prompts from "@clack/prompts";
import { databases, optionsOf, runtimes, samples, tests } from "./choices.ts";
import type { Choices, Runtime, SomeChoices } from "./choices.ts";

/** The terminal that questions are asked on. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
}

/** What a person answered; undefined if they pressed Ctrl-C. */
export interface Answers {
  readonly folder: string;
  readonly choices: Choices;
}

const labels = { runtime: runtimes, database: databases, sample: samples, tests };
const questions = {
  runtime: "Where does it run?",
  database: "Which database does it use?",
  sample: "What does it begin with?",
  tests: "What do the tests of the SQL run on?",
};

class Cancelled extends Error {}

/**
 * Asks for what is not chosen, and for nothing that leaves no choice.
 *
 * @param problemWith Why a project cannot be made in a folder.
 */
export async function ask(
  terminal: Terminal,
  given: { readonly folder: string | undefined; readonly chosen: SomeChoices; readonly runtime: Runtime },
  problemWith: (folder: string) => string | undefined,
): Promise<Answers | undefined> {
  try {
    const folder = given.folder ?? (await askFolder(terminal, problemWith));
    const runtime = given.chosen.runtime ?? (await askOne(terminal, "runtime", given.chosen, given.runtime));
    const withRuntime = { ...given.chosen, runtime };
    const database = given.chosen.database ?? (await askOne(terminal, "database", withRuntime));
    const withDatabase = { ...withRuntime, database };
    const sample = given.chosen.sample ?? (await askOne(terminal, "sample", withDatabase));
    const withSample = { ...withDatabase, sample };
    const tests = given.chosen.tests ?? (await askOne(terminal, "tests", withSample));
    return { folder, choices: { runtime, database, sample, tests } };
  } catch (error) {
    if (error instanceof Cancelled) return undefined;
    throw error;
  }
}

async function askFolder(terminal: Terminal, problemWith: (folder: string) => string | undefined): Promise<string> {
  const answer = await prompts.text({
    ...terminal,
    message: "In which folder?",
    placeholder: "my-api",
    defaultValue: "my-api",
    validate: (value) => problemWith(value === undefined || value === "" ? "my-api" : value),
  });
  return answered(answer);
}

async function askOne<Name extends keyof Choices>(
  terminal: Terminal,
  name: Name,
  chosen: SomeChoices,
  initialValue?: string,
): Promise<Choices[Name]> {
  const values: readonly string[] = optionsOf(name, chosen);
  const [only, ...others] = values;
  if (only !== undefined && others.length === 0) return only as Choices[Name];
  const options = values.map((value) => ({ value, label: (labels[name] as Record<string, string>)[value] ?? value }));
  const first = initialValue === undefined ? {} : { initialValue };
  const answer = await prompts.select<string>({ ...terminal, message: questions[name], options, ...first });
  return answered(answer) as Choices[Name];
}

function answered(answer: string | symbol): string {
  if (typeof answer === "symbol") throw new Cancelled();
  return answer;
}
