/** The entry `usher-http/client`: the typed client alone, for browsers. */
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
  UntypedRoute,
} from "./calls.ts";
export type {
  ClientSocket,
  ClientSocketEnd,
  OpenedCall,
  SocketCall,
  SocketOutcome,
  WebSocketLike,
} from "./socket-types.ts";
export type { ClientRoute } from "../routing/route.ts";
