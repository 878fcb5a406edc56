/** The `Socket` namespace: what a socket speaks. */
export { binary, encode, json, protocol, text } from "./message.ts";
