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
  RouteCall,
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
