/** The `Event` namespace: the kinds of event a stream may send, and events. */
export { comment, data, json, make, retry, text } from "./event.ts";
