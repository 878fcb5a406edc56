/** The `Socket` namespace: what a socket speaks. */
export { binary, json, protocol, text } from "./message.ts";
