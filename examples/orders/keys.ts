import { Keys } from "usher-http";

// Good enough to try it out, and for nothing that matters: everybody can read it.
const demo = "everybody-knows-this-secret-until-ORDERS_KEYS-is-set";
// There is no `process` on Workers.
const { ORDERS_KEYS = demo } = (globalThis as { process?: NodeJS.Process }).process?.env ?? {};
const [newest = demo, ...retired] = ORDERS_KEYS.split(" ");

/** What cookies are signed with: the secrets of `ORDERS_KEYS`, the newest first and a blank between. */
export const keys = Keys.ring(newest, ...retired);
