/** `node match.mjs <router> <milliseconds>`: sends the nanoseconds of each kind of match, on a thousand routes. */
import { nsPerCall } from "../harness/timing.mjs";
import { routers } from "./routers.mjs";

const [, , who, ms] = process.argv;
const batch = 4096;

/** The path of the i-th request of each kind. */
const kinds = {
  static: (i) => `/r${i % 100}/me`,
  "one parameter": (i) => `/r${i % 100}/${100_000 + i}`,
  "two parameters": (i) => `/r${i % 100}/${100_000 + i}/items/${i}`,
  "deep miss": (i) => `/r${i % 100}/${100_000 + i}/parts/${i}`,
  "early miss": (i) => `/s${i % 100}/${100_000 + i}`,
};

const router = await routers[who].make(1000);
const figures = {};
for (const [kind, pathOf] of Object.entries(kinds)) {
  const found = router.find("GET", pathOf(1)) !== undefined;
  if (found === kind.endsWith("miss")) throw new Error(`${who} is wrong about ${pathOf(1)}`);
  const texts = Array.from({ length: batch }, (_, i) => Buffer.from(pathOf(i)));
  // Each path is a new string, like a listener's: V8 caches the hash of a used one.
  const prepare = () => texts.map((text) => text.latin1Slice());
  figures[kind] = await nsPerCall({ prepare, call: (path) => router.find("GET", path), batch, ms: Number(ms) });
  if (router.allowedMethods === undefined || found) continue;
  const whole = (path) => router.find("GET", path) ?? router.allowedMethods(path);
  figures[`${kind}, to its 404`] = await nsPerCall({ prepare, call: whole, batch, ms: Number(ms) });
}
process.send?.(figures);
