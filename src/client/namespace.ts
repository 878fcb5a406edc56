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
export type { ClientSocket, ClientSocketEnd, SocketCall, SocketOutcome, WebSocketLike } from "./socket-types.ts";
