/** Event streams as they are written, and as they end (contract 6; facts 6; rows EV). */
import type { MessageCase, WireCase } from "../case.ts";
import { malformed, streamed, text } from "../expected.ts";
import { answers, asks, by, discards, leaves, noted, opens, sees } from "../steps.ts";

const headers = [
  ["cache-control", "no-cache"],
  ["x-accel-buffering", "no"],
] as const;
const stream = (body: string) => streamed("text/event-stream", body, { headers });
const bytes = (text: string) => Buffer.from(text).toString("latin1");
const one = "event: state\ndata: 1\n\n";

export const events: readonly MessageCase[] = [
  {
    name: "EV-01, EV-02 events, in their set form",
    ask: "GET /events/all",
    answer: stream(
      "retry: 1000\n\nevent: state\nid: 7\ndata: 7\n\nevent: token\ndata: two\ndata: lines\n\n: keep-alive\n\n" +
        "event: token\ndata: \n\n",
    ),
  },
  { name: "EV-10 none at all", ask: "GET /events/none", answer: stream("") },
  { name: "EV-16 from the beginning", ask: "GET /events/resumed", answer: stream("event: count\nid: 1\ndata: 1\n\n") },
  {
    name: "EV-16 behind the last one that was had",
    ask: "GET /events/resumed",
    headers: [["last-event-id", "41"]],
    answer: stream("event: count\nid: 42\ndata: 42\n\n"),
  },
  {
    name: "EV-16 behind an id in UTF-8, as every client sends it",
    ask: "GET /events/after",
    headers: [["last-event-id", bytes("zwölf 🙂")]],
    answer: stream("event: token\ndata: after zwölf 🙂\n\n"),
  },
  {
    name: "EV-18 behind one that is none",
    ask: "GET /events/resumed",
    headers: [["last-event-id", "x"]],
    answer: malformed("header.last-event-id", "This is not a whole number."),
  },
];

export const eventLines: readonly WireCase[] = [
  {
    name: "EV-01 an event goes out when it is sent",
    steps: [
      asks("GET /events/wait/sent"),
      sees(one),
      opens("sent"),
      answers(stream(`${one}event: state\ndata: 2\n\n`)),
      noted("sent sent", "yes"),
    ],
  },
  {
    name: "EV-09 a send after the client went answers gone",
    steps: [asks("GET /events/ticks/left"), sees(one), leaves, noted("left sent", "gone")],
  },
  {
    name: "EV what sends on and on, to who takes all of it, keeps no other from its turn",
    steps: [
      asks("GET /events/flood/flood"),
      sees(one),
      discards,
      ...by("other", asks("GET /ok"), answers(text("ok"))),
      leaves,
      noted("flood sent", "gone"),
    ],
  },
  {
    name: "EV-12 a quiet stream is kept alive",
    steps: [asks("GET /events/quiet/kept"), sees(": keep-alive\n\n")],
  },
  {
    name: "EV-13 a quiet stream ends with its client, and its subscription with it",
    steps: [
      asks("GET /events/quiet/gone"),
      noted("gone began", "yes"),
      sees(": keep-alive\n\n"),
      leaves,
      noted("gone heard", "nothing"),
      noted("gone left", "nobody"),
    ],
  },
];
