/** `node open.mjs <framework> <routes>`: sends the milliseconds of importing, listing, making and the first request. */
import { frameworks } from "./frameworks.mjs";

const [, , who, count] = process.argv;
const figures = await frameworks[who](Number(count));
process.send?.({ ...figures, rss: process.memoryUsage().rss / 1e6 });
