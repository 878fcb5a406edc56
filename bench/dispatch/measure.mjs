/** `node measure.mjs <candidate> <case> <milliseconds>`: one candidate on one case; sends the nanoseconds of a call. */
import { cases, checkAnswer, tableCases } from "../apps/cases.mjs";
import { nsPerCall } from "../harness/timing.mjs";
import { candidates } from "./candidates.mjs";

const [, , who, which, ms] = process.argv;
const candidate = candidates[who];
const asked = cases[which] ?? tableCases[which];

const open = await candidate.open(which in tableCases);
const { prepare, call } = open(asked);
checkAnswer(candidate.name, asked, await candidate.read(await call(prepare(1)[0])));
// Small batches: many live undici bodies make their finalizers cost the next measurement.
process.send?.(await nsPerCall({ prepare, call, batch: 32, ms: Number(ms) }));
