/** WebSockets, frame by frame, without a client library (contract 4.3; facts 7; rows WS). */
import type { Ask, Lines, Step, StoppingCase, WireCase } from "../case.ts";
import { problems, refused, text as textAnswer } from "../expected.ts";
import type { Expected } from "../case.ts";
import {
  answers,
  asks,
  by,
  discards,
  ended,
  exits,
  frames,
  halfCloses,
  head,
  hears,
  hearsClose,
  leaves,
  logged,
  noted,
  opens,
  sends,
  signalled,
  stopsReading,
  upgraded,
} from "../steps.ts";

const version: Lines[number] = ["sec-websocket-version", "13"];
const key: Lines[number] = ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="];
const upgrade: Lines[number] = ["upgrade", "websocket"];
const connection: Lines[number] = ["connection", "Upgrade"];
const handshake: Lines = [upgrade, connection, key, version];

const opening = (path: string, headers: Lines = handshake): Ask => ({ ask: `GET /socket/${path}`, headers });
const open = (path: string): readonly Step[] => [asks(opening(path)), upgraded()];
const offering = (...protocols: readonly string[]): Lines => [
  ...handshake,
  ...protocols.map((protocol) => ["sec-websocket-protocol", protocol] as const),
];

/** The case does not check for a further request: some runtimes hand the connection over too early. */
const refusal = (expected: Expected): Step => answers({ ...expected, after: "either" });
const noSocket = refused(426, "upgrade_required", "This address opens a WebSocket, and nothing else.", {
  headers: [["upgrade", "websocket"]],
});
const otherVersion = refused(426, "upgrade_required", "This server speaks version 13 of WebSockets.", {
  headers: [
    ["upgrade", "websocket"],
    ["sec-websocket-version", "13"],
  ],
});
const notOffered = problems([
  "header.sec-websocket-protocol",
  "required",
  "This socket speaks chat, which was not offered.",
]);
const noneOffered = problems([
  "header.sec-websocket-protocol",
  "required",
  "This socket speaks v3, v2, v1, none of which was offered.",
]);
const deflate = "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=12";
const crossOrigin = refused(403, "cross_origin", "That request came from another site, so it was not carried out.");
const badKey: readonly [string, string, string] = [
  "header.sec-websocket-key",
  "malformed",
  "This is not a WebSocket key.",
];
const noConnection: readonly [string, string, string] = [
  "header.connection",
  "required",
  "A WebSocket is opened with Connection: upgrade.",
];

const text = 0x81;
const binary = 0x82;
const close = 0x88;
const ping = 0x89;
const pong = 0x8a;
/** The payload of a close. */
const code = (code: number, reason = ""): string => String.fromCharCode(code >> 8, code & 255) + reason;
/** The server ends the connection, and then its client. */
const over: readonly Step[] = [ended, halfCloses];
const leave = [frames([close, code(1000)]), hearsClose(1000), ...over];
const hello = [frames([text, "hello"]), hears(text, "hello")];

/** Frames that no client may send, and the code of the close that answers them. */
const wrong = (name: string, sent: Step, closes: number): WireCase => {
  const key = name.replaceAll(/[^\w-]/g, "-");
  return {
    name,
    steps: [...open(`texts/${key}`), sent, hearsClose(closes), ...over, noted(`${key} ended`, "lost")],
  };
};

export const sockets: readonly WireCase[] = [
  {
    name: "WR beside sockets, an upgrade to HTTP/2 has its body read, and its connection goes on",
    steps: [
      asks({
        ask: "POST /reading/h2c",
        headers: [
          ["connection", "Upgrade, HTTP2-Settings"],
          ["upgrade", "h2c"],
        ],
        body: "abcdef",
      }),
      answers(textAnswer("abcdef")),
      asks("GET /ok", "GET /ok"),
      answers(textAnswer("ok")),
      answers(textAnswer("ok")),
    ],
  },
  {
    name: "WS-01 a handshake is answered with what proves that it was read",
    steps: [asks(opening("texts/01")), upgraded(), ...hello, ...leave, noted("01 ended", "closed 1000 ")],
  },
  {
    name: "WS-03 another version is a 426",
    steps: [
      asks(opening("texts/03", [upgrade, connection, key, ["sec-websocket-version", "8"]])),
      refusal(otherVersion),
    ],
  },
  {
    name: "XO-19, WS-13 of another site's page it is a 403, before it is looked at",
    steps: [
      asks(opening("texts/cross", [...handshake, ["origin", "https://elsewhere.example"]])),
      refusal(crossOrigin),
    ],
  },
  {
    name: "XO-19 of a page of its own it is opened",
    steps: [asks(opening("lines", [...handshake, ["origin", "https://h"]])), upgraded()],
  },
  {
    name: "WS no version is a 426",
    steps: [asks(opening("texts/v", [upgrade, connection, key])), refusal(otherVersion)],
  },
  { name: "WS no handshake is a 426", steps: [asks("GET /socket/texts/none"), refusal(noSocket)] },
  {
    name: "WS another protocol is a 426",
    steps: [asks(opening("texts/h2c", [["upgrade", "h2c"], connection, key, version])), refusal(noSocket)],
  },
  {
    name: "WS-04 a key of too few bytes is a 400",
    steps: [
      asks(opening("texts/04", [upgrade, connection, ["sec-websocket-key", "c2hvcnQ="], version])),
      refusal(problems(badKey)),
    ],
  },
  {
    name: "WS no key, and no upgrade of the connection, is one 400",
    steps: [asks(opening("texts/both", [upgrade, version])), refusal(problems(noConnection, badKey))],
  },
  {
    name: "WS-06 a handshake of HTTP/1.0 is a 426",
    steps: [
      asks({ ask: "GET /socket/texts/06 HTTP/1.0", headers: handshake }),
      answers({ ...noSocket, after: "closed" }),
    ],
  },
  {
    name: "WS-07 a handshake's words have no case, and may stand among others",
    steps: [
      asks(opening("texts/07", [["upgrade", "WebSocket"], ["connection", "keep-alive, Upgrade"], key, version])),
      upgraded(),
      ...leave,
    ],
  },
  ...[
    ["on a line before it", ["h2c"], ["websocket"]],
    ["on a line behind it", ["websocket"], ["h2c"]],
    ["listed before it", ["h2c, websocket"]],
    ["listed behind it", ["websocket, H2C"]],
    ["on lines around it", ["other/1"], ["websocket"], ["h2c"]],
  ].map(([where, ...lines]): WireCase => {
    const path = `texts/${String(where).replaceAll(" ", "-")}`;
    const upgrades = lines.map((line): Lines[number] => ["upgrade", String(line)]);
    return {
      name: `WS another protocol stands ${String(where)}`,
      steps: [asks(opening(path, [...upgrades, connection, key, version])), upgraded(), ...hello, ...leave],
    };
  }),
  ...[
    ["a length", "content-length: 3", "abc"],
    ["chunks", "transfer-encoding: chunked", "3\r\nabc\r\n0\r\n\r\n"],
    ["a length that does not come", "content-length: 300000", "abc"],
  ].map(([what, framing = "", body = ""]): WireCase => {
    const lines = handshake.map(([name, value]) => `${name}: ${value}`);
    return {
      name: `WS a handshake with ${what} is a 426`,
      steps: [head("GET /socket/texts/body HTTP/1.1", "host: h", ...lines, framing), sends(body), refusal(noSocket)],
    };
  }),
  {
    name: "WS-09 a subprotocol that both speak is named",
    steps: [asks(opening("named/09", offering("other, chat"))), upgraded("chat"), ...hello, ...leave],
  },
  {
    name: "WS-09 it may be offered on a line of its own",
    steps: [asks(opening("named/09b", offering("other", "chat"))), upgraded("chat"), ...leave],
  },
  ...(
    [
      ["the server's first of those offered", "several", ["v1, v2"], "v2"],
      ["of two lines", "several", ["v1", "x, v3"], "v3"],
      ["by its case", "several", ["V3,v1"], "v1"],
      ["its own, where none is needed", "or-none", ["v1"], "v1"],
      ["none, where none is offered", "or-none", [], undefined],
      ["none, where none fits", "or-none", ["v9", "v"], undefined],
    ] as const
  ).map(([which, path, offered, chosen]): WireCase => {
    const said = `speaks ${chosen}`;
    return {
      name: `WS-50 of several subprotocols the server chooses ${which}`,
      steps: [asks(opening(path, offering(...offered))), upgraded(chosen), hears(text, said), ...leave],
    };
  }),
  {
    name: "WD-20 compression is agreed on where a socket asks for it, and a message is inflated",
    steps: [
      asks(opening("deflated/20", [...handshake, ["sec-websocket-extensions", "permessage-deflate"]])),
      upgraded(undefined, [["sec-websocket-extensions", deflate]]),
      // The example of RFC 7692 §7.2.3.1.
      frames([0xc1, "\xf2\x48\xcd\xc9\xc9\x07\x00"]),
      hears(text, "Hello"),
      ...leave,
    ],
  },
  ...[[], ["v9"], ["V1"], ["v1 v2"]].map((offered): WireCase => ({
    name: `WS-51 none of several subprotocols is offered by ${JSON.stringify(offered)}`,
    steps: [asks(opening("several", offering(...offered))), refusal(noneOffered)],
  })),
  ...["other,chat", "chat, chat", "chat,,x", ",chat", "chat\t,x"].map((offered, i): WireCase => {
    return {
      name: `WS-09 it may be offered as ${JSON.stringify(offered)}`,
      steps: [asks(opening(`named/09-${i}`, offering(offered))), upgraded("chat"), ...hello, ...leave],
    };
  }),
  {
    name: "WS a subprotocol that nobody asked for is not named",
    steps: [asks(opening("texts/unasked", offering("chat"))), upgraded(), ...leave],
  },
  { name: "WS-10 a subprotocol that is not offered is a 400", steps: [asks(opening("named/10")), refusal(notOffered)] },
  {
    name: "WS-12 no extension is agreed on",
    steps: [
      asks(opening("texts/12", [...handshake, ["sec-websocket-extensions", "permessage-deflate"]])),
      upgraded(),
      ...leave,
    ],
  },
  {
    name: "WS-14 a route refuses before the socket is open",
    steps: [asks(opening("refuses")), refusal(refused(403, "forbidden", "Not today."))],
  },
  {
    name: "WS a handler that waits opens it with what it set",
    steps: [
      asks(opening("later/set")),
      noted("set asked", "yes"),
      opens("set"),
      upgraded(undefined, [["set-cookie", "seen=1; Path=/; HttpOnly; Secure; SameSite=Lax"]]),
      ...hello,
      ...leave,
    ],
  },
  {
    name: "WS a client that goes before it is open does no harm",
    steps: [
      asks(opening("later/left")),
      noted("left asked", "yes"),
      leaves,
      opens("left"),
      logged("GET /socket/later/left 101"),
    ],
  },
  {
    name: "WS-15 a message of JSON, and the same back",
    steps: [
      ...open("lines"),
      frames([text, '{"text":"hello"}']),
      hears(text, '{"text":"hello"}'),
      frames([close, code(1000)]),
      hearsClose(1000),
      ...over,
    ],
  },
  {
    name: "WS a message that does not fit closes it with 1007",
    steps: [...open("lines"), frames([text, '{"text":1}']), hearsClose(1007)],
  },
  {
    name: "WS-16 a long message, whole",
    steps: [
      ...open("texts/16"),
      frames([text, "x".repeat(100_000)]),
      hears(text, "x".repeat(100_000)),
      frames([text, "x".repeat(200)]),
      hears(text, "x".repeat(200)),
      ...leave,
    ],
  },
  {
    name: "WS an empty message",
    steps: [...open("texts/empty"), frames([text, ""]), hears(text, ""), ...hello, ...leave],
  },
  {
    name: "WS-18 a handler that raises closes it with 1011, and says nothing of why",
    steps: [
      ...open("raises"),
      hearsClose(1011, "Something went wrong at our end."),
      frames([close, code(1011)]),
      ...over,
      logged("socket on /socket/raises ended: its handler raised"),
    ],
  },
  {
    name: "WS-19 a handler that returns closes it with 1000",
    steps: [...open("returns"), hears(text, "bye"), hearsClose(1000), frames([close, code(1000)]), ...over],
  },
  {
    name: "WS a handler closes it with a code and a reason of its own",
    steps: [
      ...open("closes/own"),
      hearsClose(4001, "enough"),
      frames([close, code(4001)]),
      ...over,
      noted("own ended", "closed 4001 enough"),
    ],
  },
  {
    name: "WS-21 a client that is quiet is pinged, and kept when it answers",
    steps: [...open("quiet/21"), hears(ping, ""), frames([pong, ""]), hears(ping, ""), frames([pong, ""]), ...hello],
  },
  {
    name: "WS-21 one that stays silent is lost",
    steps: [
      ...open("silent/21b"),
      hears(ping, ""),
      noted("21b ended", "lost"),
      logged("socket on /socket/silent/21b ended: lost: nothing heard for 0.2s"),
    ],
  },
  {
    name: "WS-24 fragments are one message",
    steps: [...open("texts/24"), frames([0x01, "hel"], [0x00, "l"], [0x80, "o"]), hears(text, "hello"), ...leave],
  },
  {
    name: "WS-25 a ping between fragments is answered first",
    steps: [
      ...open("texts/25"),
      frames([0x01, "hel"], [ping, "p"], [0x80, "lo"]),
      hears(pong, "p"),
      hears(text, "hello"),
      ...leave,
    ],
  },
  { name: "WS-27 a pong that nobody asked for", steps: [...open("texts/27"), frames([pong, "x"]), ...hello, ...leave] },
  {
    name: "WS-28 a close is answered with its code",
    steps: [
      ...open("texts/28"),
      frames([close, code(1001, "off")]),
      hearsClose(1001),
      ...over,
      noted("28 ended", "closed 1001 off"),
      logged("socket on /socket/texts/28 ended: closed"),
    ],
  },
  {
    name: "WS-29 a close with no code, with none",
    steps: [...open("texts/29"), frames([close, ""]), hearsClose(), ...over, noted("29 ended", "closed 1005 ")],
  },
  {
    name: "WS a close is told though its client keeps the connection",
    steps: [
      ...open("texts/keeps"),
      frames([close, code(1000)]),
      hearsClose(1000),
      noted("keeps ended", "closed 1000 "),
    ],
  },
  {
    name: "WS a close of the application's own kind",
    steps: [
      ...open("texts/4999"),
      frames([close, code(4999)]),
      hearsClose(4999),
      ...over,
      noted("4999 ended", "closed 4999 "),
    ],
  },
  {
    name: "WS what came before a close is told before it",
    steps: [
      ...open("held/before"),
      noted("before opened", "yes"),
      frames([text, "a"], [text, "b"], [close, code(1000)]),
      opens("before"),
      halfCloses,
      noted("before then ended", "closed 1000 "),
    ],
  },
  {
    name: "WS-30 bytes, and the same back",
    steps: [...open("bytes"), frames([binary, "\u0000\u00ff\u0001"]), hears(binary, "\u0000\u00ff\u0001"), ...leave],
  },
  wrong("WS-31 an unmasked frame", sends("\u0081\u0001a"), 1002),
  wrong("WS-33 an opcode no frame has", frames([0x83, ""]), 1002),
  wrong("WS-34 a control frame in fragments", frames([0x09, ""]), 1002),
  wrong("WS-36 a continuation of nothing", frames([0x80, "x"]), 1002),
  wrong("WS-37 a new message before the last one ended", frames([0x01, "a"], [text, "b"]), 1002),
  wrong("WS a reserved bit", frames([0xc1, "x"]), 1002),
  wrong("WS a control frame of more than 125 bytes", frames([ping, "x".repeat(126)]), 1002),
  wrong("WS-40 text that is no UTF-8", frames([text, "\u00c3\u0028"]), 1007),
  wrong("WS-42 a close's reason that is no UTF-8", frames([close, code(1000, "\u00c3\u0028")]), 1007),
  wrong("WS a close of one byte", frames([close, "\u0003"]), 1002),
  wrong("WS a close with a code that none can send", frames([close, code(1005)]), 1002),
  {
    name: "WS-39 a character split over fragments is read whole",
    steps: [...open("texts/39"), frames([0x01, "\u00c3"], [0x80, "\u00a9"]), hears(text, "\u00c3\u00a9"), ...leave],
  },
  {
    name: "WS-43 bytes to a socket of text close it with 1003",
    steps: [
      ...open("texts/43"),
      frames([binary, "x"]),
      hearsClose(1003),
      frames([close, code(1003)]),
      ...over,
      noted("43 ended", "closed 1003 a kind of message this socket does not carry"),
    ],
  },
  {
    name: "WS a message past its socket's limit closes it with 1009",
    steps: [
      ...open("small/max"),
      frames([text, "x".repeat(10)]),
      hears(text, "x".repeat(10)),
      frames([text, "x".repeat(11)]),
      hearsClose(1009),
    ],
  },
  {
    name: "WS nor do fragments get past it",
    steps: [...open("small/parts"), frames([0x01, "x".repeat(9)], [0x80, "xx"]), hearsClose(1009)],
  },
  {
    name: "WS a client that vanishes is told to its handler",
    steps: [...open("texts/vanishes"), noted("vanishes opened", "yes"), leaves, noted("vanishes ended", "lost")],
  },
  {
    name: "WS clientGone tells a handler that waits for something else",
    steps: [...open("waits/waiting"), noted("waiting opened", "yes"), leaves, noted("waiting ended", "gone")],
  },
  {
    name: "WS also where what its client said waits to be taken",
    steps: [
      ...open("waits/untaken"),
      noted("untaken opened", "yes"),
      frames([text, "one"], [text, "two"]),
      // The server has received both by the time that it has answered another request.
      ...by("other", asks("GET /ok"), answers(textAnswer("ok")), asks("GET /ok"), answers(textAnswer("ok"))),
      leaves,
      noted("untaken ended", "gone"),
    ],
  },
  {
    name: "WS what is sent on and on, to who takes all of it, keeps no other from its turn",
    steps: [
      ...open("endless/flooding"),
      discards,
      ...by("other", asks("GET /ok"), answers(textAnswer("ok"))),
      leaves,
      noted("flooding ended", "lost"),
    ],
  },
  {
    name: "WS and one that does in the middle of a frame",
    steps: [
      ...open("texts/half-frame"),
      ...hello,
      sends("\u0081\u008a\u0000\u0000"),
      leaves,
      noted("half-frame ended", "lost"),
    ],
  },
];

/** The limits of a listener. */
export const boundedSockets: readonly WireCase[] = [
  {
    name: "WS a client that takes nothing is lost, and is waited for until then",
    on: "impatient",
    steps: [
      asks(opening("floods/stuck")),
      upgraded(),
      stopsReading,
      noted("stuck ended", "lost"),
      logged("socket on /socket/floods/stuck ended: lost: nothing written was taken for 0.3s"),
    ],
  },
];

export const stoppedSockets: readonly StoppingCase[] = [
  {
    name: "WS a server that stops closes its sockets with 1001, and waits for them",
    drainMs: 600_000,
    steps: [
      ...open("texts/stops"),
      ...hello,
      signalled("SIGTERM"),
      hearsClose(1001, "The server is stopping."),
      frames([close, code(1001)]),
      ...over,
      logged("socket on /socket/texts/stops ended: server stopped"),
      logged("stopped"),
      exits(0),
    ],
  },
  {
    name: "WS at once, whatever else is in flight",
    drainMs: 600_000,
    steps: [
      ...open("texts/stopped-beside"),
      ...hello,
      ...by(
        "other",
        head("POST /reading/beside-socket HTTP/1.1", "host: h", "content-length: 6"),
        sends("abc"),
        noted("beside-socket read", "abc"),
      ),
      signalled("SIGTERM"),
      hearsClose(1001, "The server is stopping."),
      frames([close, code(1001)]),
      ...over,
      logged("socket on /socket/texts/stopped-beside ended: server stopped"),
      ...by("other", sends("def")),
      logged("beside-socket ended: whole"),
      exits(0),
    ],
  },
  {
    name: "WS one whose client does not answer is ended all the same",
    drainMs: 600_000,
    steps: [
      ...open("texts/mute"),
      ...hello,
      signalled("SIGTERM"),
      hearsClose(1001, "The server is stopping."),
      logged("socket on /socket/texts/mute ended: server stopped"),
      exits(0),
    ],
  },
  {
    name: "WS one whose handler does not end is cut when the time is over",
    drainMs: 300,
    steps: [
      ...open("deaf/forever"),
      noted("forever opened", "yes"),
      signalled("SIGTERM"),
      hearsClose(1001),
      logged("stopped with 1 request unanswered after 0.3s"),
      exits(0),
    ],
  },
];
