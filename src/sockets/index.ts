/** The `Socket` namespace: the protocols of WebSockets. */
export { protocol } from "./protocol.ts";
export { binary, encode, json, text } from "./socket.ts";
export { credential } from "./credential.ts";
