/** The `Socket` namespace: the protocols of WebSockets. */
export { binary, encode, json, protocol, text } from "./socket.ts";
export { credential } from "./credential.ts";
