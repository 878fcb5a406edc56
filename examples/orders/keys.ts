import { Keys } from "usher-http";

// Only to try the example: this secret is public.
const demo = "everybody-knows-this-secret-until-ORDERS_KEYS-is-set";
// Workers have no `process`.
const { ORDERS_KEYS = demo } = (globalThis as { process?: NodeJS.Process }).process?.env ?? {};
const [newest = demo, ...retired] = ORDERS_KEYS.split(" ");

/** The keys that sign cookies: the secrets of `ORDERS_KEYS`, newest first, separated by a space. */
export const keys = Keys.ring(newest, ...retired);
