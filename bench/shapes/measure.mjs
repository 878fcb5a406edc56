/** `node measure.mjs <candidate> <milliseconds>`: sends the nanoseconds of reading, checking and writing the order. */
import { nsPerCall } from "../harness/timing.mjs";
import { candidates } from "./candidates.mjs";
import { invalid, valid } from "./order.mjs";

const [, , who, ms] = process.argv;
const { read, check, write } = await candidates[who].make();
const bytes = { valid: Buffer.from(JSON.stringify(valid)), invalid: Buffer.from(JSON.stringify(invalid)) };

const checks = who !== "json";
if (bytes.valid.length !== 431) throw new Error(`the order is of ${bytes.valid.length} bytes`);
if (!read(bytes.valid) || (checks && read(bytes.invalid))) throw new Error(`${who} reads wrong`);
if (write(valid) !== JSON.stringify(valid) && write(valid).length !== bytes.valid.length)
  throw new Error(`${who} writes wrong`);

const time = (call, given) =>
  nsPerCall({ prepare: (count) => Array.from({ length: count }, given), call, batch: 256, ms: Number(ms) });
process.send?.({
  "read, valid": await time(read, () => bytes.valid),
  "read, invalid": await time(read, () => bytes.invalid),
  "check alone, valid": checks ? await time(check, () => structuredClone(valid)) : undefined,
  "check alone, invalid": checks ? await time(check, () => structuredClone(invalid)) : undefined,
  write: await time(write, () => valid),
});
