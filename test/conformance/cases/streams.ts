/** Streams that are sent, and clients that disconnect (contract 6, rows AN-22, SV-12, BS). */
import type { WireCase } from "../case.ts";
import { streamed, text } from "../expected.ts";
import { answers, asks, by, cut, discards, head, leaves, noted, opens, sees, sends, stopsReading } from "../steps.ts";

const plain = "text/plain";
const ok = text("ok");
const both = streamed(plain, "one two");

export const streams: readonly WireCase[] = [
  {
    name: "AN-24 a part goes out as it is made",
    steps: [asks("GET /stream/wait/part"), sees("one "), opens("part"), answers(both)],
  },
  {
    name: "AN-24 the head goes out before the first part",
    steps: [asks("GET /stream/head/head"), sees("\r\n\r\n"), opens("head"), answers(streamed(plain, "late"))],
  },
  {
    name: "WR-01 what is pipelined behind a stream waits for its end",
    steps: [asks("GET /stream/wait/behind", "GET /ok"), sees("one "), opens("behind"), answers(both), answers(ok)],
  },
  {
    name: "AN-24 two streams at once are each its own",
    steps: [
      asks("GET /stream/wait/first"),
      sees("one "),
      ...by("another", asks("GET /stream/wait/second"), sees("one "), opens("second"), answers(both)),
      opens("first"),
      answers(both),
    ],
  },
  {
    name: "AN-22 a stream short of its length ends its connection",
    steps: [asks("GET /stream/short", "GET /ok"), sees("\r\n\r\nhi"), cut],
  },
  {
    name: "AN a stream that raises is no whole answer",
    steps: [asks("GET /stream/broken", "GET /ok"), sees("half"), cut],
  },
];

export const disconnects: readonly WireCase[] = [
  {
    name: "WR clientGone tells a handler that waits",
    steps: [asks("GET /gone/wait/waits"), noted("waits asked", "there"), leaves, noted("waits ended", "gone")],
  },
  {
    name: "WR clientGone says nothing of a client that is there",
    steps: [
      asks("GET /gone/wait/stays"),
      noted("stays asked", "there"),
      opens("stays"),
      answers(text("waited for stays")),
      noted("stays ended", "there"),
    ],
  },
  {
    name: "WR clientGone says nothing once the answer was taken",
    steps: [
      asks("GET /gone/after/taken"),
      answers(text("answered")),
      // Another one follows it, so that all of it was read.
      asks("GET /ok"),
      answers(ok),
      leaves,
      ...by("another", asks("GET /ok"), answers(ok), asks("GET /ok"), answers(ok)),
      opens("taken"),
      noted("taken ended", "there"),
    ],
  },
  {
    name: "WR clientGone tells a quiet stream",
    steps: [asks("GET /stream/quiet/quiet"), sees("one "), leaves, noted("quiet ended", "gone")],
  },
  {
    name: "WR a quiet stream that ends by itself was never told",
    steps: [asks("GET /stream/quiet/ends"), sees("one "), opens("ends"), answers(both), noted("ends ended", "there")],
  },
  {
    name: "WR a stream whose client goes is ended",
    steps: [asks("GET /stream/endless/left"), sees("xxxx"), leaves, noted("left ended", "yes")],
  },
  {
    name: "WR a handler that reads a body is told that its client went",
    steps: [
      head("POST /reading/left-reading HTTP/1.1", "host: h", "content-length: 10"),
      sends("ab"),
      noted("left-reading read", "ab"),
      leaves,
      noted("left-reading ended", "unreadable"),
    ],
  },
  {
    name: "WR what is sent on and on, to who takes all of it, keeps no other from its turn",
    steps: [
      asks("GET /stream/flood/flood"),
      // The stream has begun: workerd may not report a client that leaves before that.
      sees("part "),
      discards,
      ...by("other", asks("GET /ok"), answers(ok), asks("GET /wait/flooded")),
      opens("flooded"),
      ...by("other", answers(text("waited for flooded"))),
      leaves,
      noted("flood ended", "yes"),
    ],
  },
  {
    name: "SV-12 a client that takes nothing of a stream is left",
    on: "impatient",
    steps: [asks("GET /stream/endless/stopped"), stopsReading, noted("stopped ended", "yes")],
  },
];
