/** Bodies that are streamed, event streams, and the relays of a hub. */
export { EventReader } from "../events/event-reader.ts";
export type { ReadEvent } from "../events/event-reader.ts";
export { OpenStream } from "../events/open-stream.ts";
export type { BodySender } from "../events/open-stream.ts";
export { PulledStream, StreamCut } from "../events/readable.ts";
export type { StreamEvents } from "../events/readable.ts";
export { relayOver } from "../events/relay.ts";
export type { OpenRelay, RelayConnection, RelayEngine, RelayListener } from "../events/relay.ts";
export { readParts } from "../events/stream.ts";
export type { Parts, StreamBody, StreamEnd, StreamSink } from "../events/stream.ts";
