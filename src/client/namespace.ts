/** The `Client` namespace: an HTTP client for other servers, and the typed client of this framework's routes. */
export { TooLarge } from "./make.ts";
export { make } from "./make.ts";
export type { ClientInit, MakeOptions } from "./make.ts";
export { of } from "./of.ts";
export type {
  CallOptions,
  Calls,
  ClientCode,
  ClientOptions,
  Outcome,
  RefusalRead,
  Refused,
  Succeeded,
} from "./calls.ts";
