/** The `Client` namespace: calls to other servers, and to this framework's own by their routes' types. */
export { TooLarge } from "./make.ts";
export { make } from "./make.ts";
export type { ClientInit, MakeOptions } from "./make.ts";
export { of } from "./of.ts";
export type { CallOptions, Calls, ClientCode, ClientOptions, Outcome, Refused, Succeeded } from "./calls.ts";
