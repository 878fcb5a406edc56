/** The `Client` namespace: the typed client of this framework's routes. */
export { of } from "./of.ts";
export type {
  CallOptions,
  Client,
  ClientCode,
  ClientOptions,
  Outcome,
  RefusalRead,
  Refused,
  Succeeded,
} from "./calls.ts";
