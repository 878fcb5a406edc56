/** A protocol of the application after HTTP (contract 4.3; rows AN-27 to AN-31). */
import type { Ask, Lines, Step, StoppingCase, WireCase } from "../case.ts";
import { failed } from "../expected.ts";
import {
  answers,
  asks,
  cut,
  ended,
  exits,
  halfCloses,
  head,
  leaves,
  logged,
  noted,
  seesOnly,
  sends,
  signalled,
  stopsReading,
} from "../steps.ts";

const offer: Lines = [
  ["connection", "keep-alive, Upgrade"],
  ["upgrade", "other, echo"],
];
const taking = (path: string, headers = offer): Ask => ({ ask: `GET /taken/${path}`, headers });
const taken: Step = {
  does: "answer",
  expected: {
    status: 101,
    headers: [
      ["x-mine", "a"],
      ["upgrade", "echo"],
      ["connection", "upgrade"],
    ],
    body: "",
    framing: "none",
    after: "kept",
  },
  toHead: false,
  by: "one",
};
const bare: Step = { ...taken, expected: { ...taken.expected, headers: taken.expected.headers.slice(1) } };
/** The case does not check for a further request. */
const refused = answers({ ...failed, after: "either" });

/** On targets that hand over connections. */
export const takeovers: readonly WireCase[] = [
  {
    name: "AN-27 a connection speaks what its client offered, and ends with what was said",
    steps: [
      asks(taking("27")),
      taken,
      sends("hello"),
      seesOnly("hello"),
      sends(" again"),
      seesOnly(" again"),
      halfCloses,
      seesOnly("bye"),
      ended,
      noted("27 ended", "whole"),
      logged("takeover on /taken/27 ended: finished"),
    ],
  },
  {
    name: "AN-27 a protocol's name has no case",
    steps: [
      asks(
        taking("27b", [
          ["connection", "upgrade"],
          ["upgrade", "ECHO"],
        ]),
      ),
      taken,
      halfCloses,
      seesOnly("bye"),
      ended,
    ],
  },
  {
    name: "AN-29 HEAD has the head, and the connection is closed",
    steps: [asks({ ...taking("29"), ask: "HEAD /taken/29" }), taken, ended],
  },
  {
    name: "AN-30 bytes that are sent with the request reach it",
    steps: [
      head("GET /taken/30 HTTP/1.1", "host: h", "connection: upgrade", "upgrade: echo", "", "early"),
      taken,
      seesOnly("early\r\n\r\n"),
      sends(" late"),
      seesOnly(" late"),
    ],
  },
  {
    name: "AN a takeover that raises ends its connection",
    steps: [
      asks(taking("raising/raises")),
      bare,
      ended,
      logged("takeover on /taken/raising/raises: its handler raised"),
    ],
  },
  {
    name: "AN a client that goes is told to who speaks with it, and is no bug",
    steps: [
      asks(taking("goes")),
      taken,
      noted("goes taken", "yes"),
      leaves,
      noted("goes ended", "broken"),
      logged("takeover on /taken/goes ended: client gone"),
    ],
  },
];

/** On all targets. */
export const refusedTakeovers: readonly WireCase[] = [
  {
    name: "AN-28 a takeover that its client did not offer is the route's bug",
    steps: [asks("GET /taken/28"), refused, logged('a takeover to \\"echo\\"')],
  },
  {
    name: "AN-28 nor did one that offers others",
    steps: [
      asks(
        taking("28b", [
          ["connection", "upgrade"],
          ["upgrade", "other"],
        ]),
      ),
      refused,
    ],
  },
  {
    name: "AN-28 an offer that is not the connection's is none",
    steps: [asks(taking("28c", [["upgrade", "echo"]])), refused],
  },
  {
    name: "AN-28 nor is one of HTTP/1.0",
    steps: [asks({ ask: "GET /taken/28d HTTP/1.0", headers: offer }), refused],
  },
  {
    name: "AN-28 nor one with a body",
    steps: [asks({ ask: "POST /taken/28e", headers: offer, body: "hello" }), refused],
  },
];

export const boundedTakeovers: readonly WireCase[] = [
  {
    name: "AN a client that takes nothing is left",
    on: "impatient",
    steps: [
      asks(taking("stuck-taken/floods")),
      bare,
      stopsReading,
      noted("stuck-taken ended", "broken"),
      logged("takeover on /taken/stuck-taken/floods ended: client stopped reading"),
    ],
  },
];

export const stoppedTakeovers: readonly StoppingCase[] = [
  {
    name: "AN-31 a takeover is told that the server stops, and has the time that it gives",
    drainMs: 600_000,
    steps: [
      asks(taking("31")),
      taken,
      noted("31 taken", "yes"),
      signalled("SIGTERM"),
      seesOnly("stoppingbye"),
      ended,
      logged("stopped"),
      exits(0),
    ],
  },
  {
    name: "AN-31 and is cut when that is over",
    drainMs: 300,
    steps: [
      asks(taking("31b/deaf")),
      bare,
      noted("31b taken", "yes"),
      signalled("SIGTERM"),
      cut,
      logged("takeover on /taken/31b/deaf ended: server stopped"),
      logged("stopped with 1 request unanswered after 0.3s"),
      exits(0),
    ],
  },
];
