/** A server that stops by a signal, in its own process (contract 4.6; rows SV-18 to SV-21). */
import type { StoppingCase } from "../case.ts";
import { streamed, text, typed } from "../expected.ts";
import {
  answers,
  asks,
  by,
  ended,
  endsWhole,
  cut,
  exits,
  head,
  logged,
  noted,
  refusesConnections,
  sees,
  sends,
  signalled,
} from "../steps.ts";

/** Longer than any test runs: what ends before it did not wait for it. */
const drainMs = 600_000;
const ok = text("ok");
/** In flight until the client sends the rest of its body: a gate would have to be opened by a new connection. */
const uploading = (key: string) => [
  head(`POST /reading/${key} HTTP/1.1`, "host: h", "content-length: 6"),
  sends("abc"),
  noted(`${key} read`, "abc"),
];
const uploaded = [sends("def"), answers(text("abcdef", { after: "closed" })), ended];

export const stopping: readonly StoppingCase[] = [
  {
    name: "SV-18 SIGTERM: new connections are refused, and the process ends",
    drainMs,
    steps: [asks("GET /ok"), answers(ok), signalled("SIGTERM"), refusesConnections, logged("stopped"), exits(0)],
  },
  {
    name: "SV-18 SIGINT, likewise",
    drainMs,
    steps: [asks("GET /ok"), answers(ok), signalled("SIGINT"), refusesConnections, exits(0)],
  },
  {
    name: "SV-18, SV-21 what is in flight is answered, and told that it is the last",
    drainMs,
    steps: [
      ...uploading("flying"),
      signalled("SIGTERM"),
      logged("stopping, with 1 request in flight"),
      refusesConnections,
      ...uploaded,
      exits(0),
    ],
  },
  {
    name: "SV-21 what is pipelined behind it is not answered",
    drainMs,
    steps: [
      ...uploading("piped"),
      signalled("SIGTERM"),
      refusesConnections,
      sends("def"),
      asks("GET /ok"),
      answers(text("abcdef", { after: "closed" })),
      ended,
      exits(0),
    ],
  },
  {
    name: "SV-18 kept connections with nothing to ask are closed",
    drainMs,
    steps: [
      asks("GET /ok"),
      answers(ok),
      ...by("another", asks("GET /ok"), answers(ok)),
      signalled("SIGTERM"),
      ended,
      ...by("another", ended),
      exits(0),
    ],
  },
  {
    name: "SV-18 half a head is not waited for",
    drainMs,
    steps: [
      ...by("half", sends("GET /ok HTTP/1.1\r\nho")),
      asks("GET /ok"),
      answers(ok),
      signalled("SIGTERM"),
      ...by("half", ended),
      exits(0),
    ],
  },
  {
    name: "SV-19 what is not answered in time is cut, and counted",
    drainMs: 100,
    steps: [
      asks("GET /never/cut"),
      noted("cut asked", "yes"),
      signalled("SIGTERM"),
      ended,
      logged("stopped with 1 request unanswered"),
      exits(0),
    ],
  },
  {
    name: "SV-19 a stream is ended with it, and counted",
    drainMs: 100,
    steps: [
      asks("GET /stream/endless/stopping"),
      sees("xxxx"),
      signalled("SIGTERM"),
      cut,
      logged("stopped with 1 request unanswered"),
      exits(0),
    ],
  },
  {
    name: "EV-15 a stream of events is ended at once, and its producer is told",
    drainMs,
    steps: [
      asks("GET /events/ticks/stopped"),
      sees("event: state\ndata: 2\n\n"),
      signalled("SIGTERM"),
      endsWhole(": stopping\n\n"),
      ended,
      logged("stopped sent: gone"),
      logged("stream on /events/ticks/stopped ended: server stopped"),
      logged('"stopped"'),
      exits(0),
    ],
  },
  {
    name: "EV-15 a quiet one, too, and its subscription",
    drainMs,
    steps: [
      asks("GET /events/quiet/stopped"),
      sees(": keep-alive\n\n"),
      signalled("SIGTERM"),
      endsWhole(": stopping\n\n"),
      ended,
      logged("stopped heard: nothing"),
      logged("stopped left: nobody"),
      exits(0),
    ],
  },
  {
    name: "EV-15 whatever else is in flight",
    drainMs,
    steps: [
      ...by("follower", asks("GET /events/ticks/following"), sees("event: state\ndata: 2\n\n")),
      ...uploading("beside"),
      signalled("SIGTERM"),
      ...by("follower", endsWhole(": stopping\n\n")),
      logged("following sent: gone"),
      ...uploaded.slice(0, 1),
      logged("beside ended: whole"),
      exits(0),
    ],
  },
  {
    name: "SV-19 a download that is on its way comes to its end",
    drainMs,
    steps: [
      asks("GET /stream/download/chunks/chunked"),
      sees("part "),
      signalled("SIGTERM"),
      answers(streamed("text/plain", "part ".repeat(50), { after: "either" })),
      exits(0),
    ],
  },
  {
    name: "SV-19 one with a length, likewise",
    drainMs,
    steps: [
      asks("GET /stream/download/length/known"),
      sees("part "),
      signalled("SIGTERM"),
      answers(typed("text/plain", "part ".repeat(50), { after: "either" })),
      exits(0),
    ],
  },
  {
    name: "SV-19 a second signal ends it at once",
    drainMs,
    steps: [
      asks("GET /never/twice"),
      noted("twice asked", "yes"),
      signalled("SIGTERM"),
      refusesConnections,
      signalled("SIGTERM"),
      exits("killed"),
    ],
  },
];
