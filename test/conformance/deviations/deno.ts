import { bodiless } from "../cases/answers.ts";
import type { Deviations } from "./deviation.ts";

export const deno: Deviations = {
  cases: [
    {
      why: "Deno has no compression of WebSockets.",
      cases: {
        "WD-20 compression is agreed on where a socket asks for it, and a message is inflated":
          "sec-websocket-extensions [], not [",
      },
    },
    {
      why: "Deno's own parser answers an upgrade with a body with 400.",
      cases: {
        "WR beside sockets, an upgrade to HTTP/2 has its body read, and its connection goes on": "status 400, not 200",
        "AN-28 nor one with a body": "status 400, not 500",
        "WS a handshake with a length is a 426": "status 400, not 426",
        "WS a handshake with chunks is a 426": "status 400, not 426",
        "WS a handshake with a length that does not come is a 426": "status 400, not 426",
      },
    },
    {
      why: "Deno opens no socket where the first protocol offered is HTTP/2: to ask it for one would end the process.",
      cases: {
        "WS another protocol stands on a line before it": "status 426, not 101",
        "WS another protocol stands listed before it": "status 426, not 101",
      },
    },
    {
      why: "Deno does not tell the version of a request, and opens a socket to HTTP/1.0.",
      cases: { "WS-06 a handshake of HTTP/1.0 is a 426": "status 101, not 426" },
    },
    {
      why: "Deno takes a client's frames masked or not.",
      cases: { "WS-31 an unmasked frame": 'a frame 81 "a" came, and no close' },
    },
    {
      why: "Deno ends the connection with no close where what comes on a socket is none.",
      cases: {
        "WS-33 an opcode no frame has": "the connection ended before a frame",
        "WS-34 a control frame in fragments": "the connection ended before a frame",
        "WS-36 a continuation of nothing": "the connection ended before a frame",
        "WS-37 a new message before the last one ended": "the connection ended before a frame",
        "WS a reserved bit": "the connection ended before a frame",
        "WS a control frame of more than 125 bytes": "the connection ended before a frame",
        "WS-40 text that is no UTF-8": "the connection ended before a frame",
        "WS-42 a close's reason that is no UTF-8": "the connection ended before a frame",
        "WS a close of one byte": "the connection ended before a frame",
      },
    },
    {
      why: "Deno.serve shows no version, so that two Hosts of HTTP/1.0 pass for one.",
      cases: { "HD-27 two Hosts of HTTP/1.0 is a 400": "status 200, not 400" },
    },
    {
      why: "Deno.serve's parser takes a head of 64 KiB, and what is under that is measured where a bound was asked for.",
      cases: {
        "HD-43 a field past the limit of a head: 431": "status 200, not 431",
        "SV-07 a field past it, in pieces": "status 200, not 431",
      },
    },
    {
      why: "Deno.serve ends the connections of what is answered while it shuts down.",
      cases: {
        "SV-18, SV-21 what is in flight is answered, and told that it is the last": "nothing came any more",
        "SV-21 what is pipelined behind it is not answered": "nothing came any more",
      },
    },
    {
      why: "Deno.serve takes a client that ended its side for gone.",
      cases: {
        "WR a client that ends its side while its handler waits is answered": "the connection ended before a head",
      },
    },
    {
      why: "A Request of Deno.serve shows the lines of a repeated header as one line.",
      cases: {
        "IN-16 a whole number on two lines": 'body "',
        "IN-16 a text on two lines": "status 200, not 400",
      },
    },
    {
      why: "Deno.serve closes the connection of a request whose body came in more pieces than one.",
      cases: {
        'PM-07 {"list":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[ is wrong': 'connection ["close"], not []',
        "MP-27 a part past the route's own limit": 'connection ["close"], not []',
        "BS many chunks": 'connection ["close"], not []',
        "JL-40 a line as long as one may be": 'connection ["close"], not []',
        "JL-45 a line is read when it is there, before the next has arrived": 'connection ["close"], not []',
        "BS a body of 1 MiB": 'connection ["close"], not []',
        "BS-01 read in parts": 'connection ["close"], not []',
        "BS-01 read in parts, in chunks": 'connection ["close"], not []',
        "BS-03 past the route's limit, by its length": 'connection ["close"], not []',
        "BS-10 past the route's limit, in chunks": 'connection ["close"], not []',
        "SV-06 64 KiB past it, and the connection is kept": 'connection ["close"], not []',
        "WR-03 64 KiB of it": 'connection ["close"], not []',
        "SV-16 only what arrived counts": 'connection ["close"], not []',
        "BS a body in pieces is there as it comes": 'connection ["close"], not []',
        "BS a body in chunks is there as it comes": 'connection ["close"], not []',
        "WR-07 Expect, where the body is read": 'connection ["close"], not []',
        "WR-07 Expect, where a stream reads it": 'connection ["close"], not []',
      },
    },
    {
      why: "Deno.serve lets nobody close a connection: it says so where it is told, and goes on.",
      cases: {
        "AN-19 an answer that closes": "the connection goes on, with 200 ok",
        "AN-19 a stream that closes": "the connection goes on, with 200 ok",
        "SV-15 bodies held at once are bounded, and what is let go makes room": "the connection goes on, with 200 ok",
        "HD-31 a target with userinfo is a 400": "the connection goes on, with 200 ok",
        "HD-36 CONNECT of no host is a 400": "the connection goes on, with 200 ok",
        "HD-37 CONNECT of no port is a 400": "the connection goes on, with 200 ok",
        "HD-28 a Host with a blank is a 400": "the connection goes on, with 200 ok",
        "HD a Host with a path is a 400": "the connection goes on, with 200 ok",
        "HD a Host with userinfo is a 400": "the connection goes on, with 200 ok",
        "HD-39 a Host of half an IPv6 address is a 400": "the connection goes on, with 200 ok",
        "HD-40 a Host of nine groups is a 400": "the connection goes on, with 200 ok",
        "SV-07 a request line past it: 414": "the connection goes on, with 200 ok",
        "SV-07 a request line past it, in pieces": "the connection goes on, with 200 ok",
        "AN-19 what comes behind an answer that closes is no request": "the connection goes on, with 200 ok",
        "SV-07 a field past the limit": "the connection goes on, with 200 ok",
        "SV-07 a target past it": "the connection goes on, with 200 ok",
      },
    },
    {
      why: "Deno.serve lets nobody close a connection: what comes of a body is waited for, however long.",
      cases: {
        "SV-06 far past the limit is refused unread": "nothing came any more",
        "WR-04 more than 64 KiB that nobody reads": "nothing came any more",
        "WR-04 more than 64 KiB that nobody reads, most of it sent": "nothing came any more",
        "SV-10 a body that stops": "nothing came any more",
        "SV-10 a body that does not begin": "nothing came any more",
        "SV-10 chunks that stop": "nothing came any more",
        "SV-10 a chunk that stops": "nothing came any more",
        "BS-12 a body that stops while a handler reads it": "nothing came any more",
        "SV-10 JSON that stops": "nothing came any more",
      },
    },
    {
      why: "Deno.serve lets nobody close a connection: what waits to be answered is told 503.",
      cases: {
        "SV-19 what is not answered in time is cut, and counted": "HTTP/1.1 503 Service Unavailable",
      },
    },
    {
      why: "Deno.serve closes no connection for being idle.",
      cases: {
        "SV-09 a kept connection with nothing to ask is closed, without a word": "nothing came any more",
        "SV a handler may take longer than any of that": "nothing came any more",
        "SV a stream may be quiet for longer than any of that": "nothing came any more",
      },
    },
    {
      why: "Deno.serve waits for a head for ever.",
      cases: {
        "SV-07 the first word of a head that does not come": "nothing came any more",
        "SV-07 half a head that does not come": "nothing came any more",
        "SV-07 half a second head that does not come": "nothing came any more",
      },
    },
    {
      why: "Deno.serve frames no 205, so that it is sent as a 204.",
      cases: {
        "AN an empty 205 has a length of 0": "status 204, not 205",
        ...Object.fromEntries(
          bodiless.filter(({ name }) => name.startsWith("AN a 205")).map(({ name }) => [name, "status 204, not 205"]),
        ),
      },
    },
    {
      why: "Deno.serve shows no version, so that a Host that is missing is one that HTTP/1.0 need not send.",
      cases: {
        "HD-30 an absolute target and no Host is a 400": "status 200, not 400",
        "HD no Host is a 400": "status 200, not 400",
      },
    },
    {
      why: "Deno.serve shows localhost for a Host with bytes past ASCII, and to look at Host itself would cost a tenth of a request.",
      cases: { "HD a Host past ASCII is a 400": "status 200, not 400" },
    },
    {
      why: "Deno.serve drops a kept connection of HTTP/1.0 at its second request.",
      cases: {
        "AN-25 a stream with a length to HTTP/1.0 does not": "the connection ended before a head",
      },
    },
    {
      why: "Deno.serve writes the head in an order of its own.",
      cases: {
        "AN-18 the head has its names in lower case, and in their order":
          "names content-type, x-mine, x-mine, vary, x-request-id, content-length, date, connection, not content-type, x-",
        "AN-18 cookies stand behind the id":
          "names content-type, x-seen, x-request-id, set-cookie, content-length, date, not content-type, x-seen, x-reques",
      },
    },
    {
      why: "Deno.serve has phrases of its own.",
      cases: {
        "WR 422 has RFC 9110's phrase": 'phrase "Unprocessable Entity", not "Unprocessable Content"',
      },
    },
    {
      why: "Deno.serve says 100 Continue by itself, at once.",
      cases: {
        "WR-10 on HTTP/1.0, Expect is nothing": "status 100, not 200",
        "WR-07 Expect, where the body is too long": "status 100, not 413",
        "WR-07 Expect, where nobody reads it": "status 100, not 200",
        "WR-07 Expect, where there is no route": "status 100, not 404",
        "WR-07 Expect, where the type is refused": "status 100, not 415",
        "AT-21 Expect, and its body comes unasked: answered once": "status 100, not 200",
      },
    },
    {
      why: "Deno.serve drops the connection of a body that is broken, with no answer.",
      cases: {
        "BD-24 a chunk size past any integer is unreadable": "the connection ended before a head",
        "BD-25 a chunk size that is not hexadecimal is unreadable": "the connection ended before a head",
        "BD-25 a chunk size below 0 is unreadable": "the connection ended before a head",
        "BD-25 no chunk size is unreadable": "the connection ended before a head",
        "BD-25 a chunk longer than its size is unreadable": "the connection ended before a head",
        "BD-30 a bare LF after the last chunk is unreadable": "nothing came any more",
        "BD-31 a bare LF after a chunk is unreadable": "the connection ended before a head",
        "BD-31 a bare LF after a chunk's size is unreadable": "the connection ended before a head",
        "BD-33 a trailer with no colon is unreadable": "the connection ended before a head",
        "BD-33 a trailer with a control character is unreadable": "the connection ended before a head",
        "BD-34 a folded trailer is unreadable": "the connection ended before a head",
      },
    },
    {
      why: "Deno.serve's parser takes no list of lengths, be they equal.",
      cases: {
        "BD-03 a list of one length, twice is read": "status 400, not 200",
        "BD-04 a list with nothing between is read": "status 400, not 200",
      },
    },
    {
      why: "Deno.serve's parser refuses with 400 what is no framing of its own.",
      cases: {
        "AT-18 gzip under chunks is refused": "status 400, not 501",
        "AT-18 identity, then chunks, is refused": "status 400, not 501",
      },
    },
    {
      why: "Deno.serve speaks HTTP/2 to whoever begins with its preface.",
      cases: {
        "HD the preface of HTTP/2 is a 400": "nothing came any more",
      },
    },
    {
      why: "Deno.serve's parser knows the versions 1.0 and 1.1, and refuses any other with 400.",
      cases: {
        "HD-42 HTTP/2.0 is another version: 505": "status 400, not 505",
        "HD-03 HTTP/1.2 is 1.1": "status 400, not 200",
      },
    },
    {
      why: "Deno.serve's parser bounds a head at 64 KiB and 128 fields, whatever it is told.",
      cases: {
        "HD-43 many fields past it: 431": "status 400, not 431",
        "SV-07 many fields past it": "status 400, not 431",
      },
    },
  ],
  writes: {
    date: "Deno.serve dates every answer, a 5xx among them.",
  },
  lacks: {
    connection: "Deno.serve closes a connection of HTTP/1.0, and does not say so.",
  },
};
