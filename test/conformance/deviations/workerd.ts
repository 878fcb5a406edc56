import { cutStreams } from "../app/wrong.ts";
import { cutName } from "../cases/wrong.ts";
import type { Deviations } from "./deviation.ts";

export const workerd: Deviations = {
  cases: [
    {
      why: "workerd sends the stream of a Response by itself, and gives it no length.",
      cases: { "AN the platform's own Response": 'content-length [], not ["17"]' },
    },
    {
      why: "workerd takes no length twice, and no blanks around a chunk's extension.",
      cases: {
        "BD-02 one length on two lines is read": "status 500, not 200",
        "BD an extension with blanks around is read": "status 400, not 200",
      },
    },
    {
      why: "workerd does not tell the version of a request, and opens a socket to HTTP/1.0.",
      cases: { "WS-06 a handshake of HTTP/1.0 is a 426": "status 101, not 426" },
    },
    {
      why: "workerd opens no socket where another protocol is offered beside it, on any line.",
      cases: {
        "WS another protocol stands on a line before it": "status 426, not 101",
        "WS another protocol stands on a line behind it": "status 426, not 101",
        "WS another protocol stands listed before it": "status 426, not 101",
        "WS another protocol stands listed behind it": "status 426, not 101",
        "WS another protocol stands on lines around it": "status 426, not 101",
      },
    },
    {
      why: "workerd agrees on the compression that a client offers, whatever the Worker says.",
      cases: {
        "WS-12 no extension is agreed on": 'sec-websocket-extensions ["permessage-deflate"], not []',
        "WD-20 compression is agreed on where a socket asks for it, and a message is inflated":
          'sec-websocket-extensions ["permessage-deflate"], not [',
      },
    },
    {
      why: "A Worker has no ping.",
      cases: {
        "WS-21 a client that is quiet is pinged, and kept when it answers": "nothing came any more",
        "WS-21 one that stays silent is lost": "nothing came any more",
      },
    },
    {
      why: "workerd takes a client's frames masked or not, and control frames of any length.",
      cases: {
        "WS-31 an unmasked frame": 'a frame 81 "a" came, and no close',
        "WS a control frame of more than 125 bytes": 'a frame 8a "xxx',
      },
    },
    {
      why: "workerd puts a sign in the place of bytes that are no UTF-8.",
      cases: {
        "WS-40 text that is no UTF-8": "came, and no close",
        "WS-42 a close's reason that is no UTF-8": "closed with 1000, not 1007",
      },
    },
    {
      why: "workerd answers a close of no code that could be sent as one without.",
      cases: {
        "WS a close of one byte": "closed with no code, not 1002",
        "WS a close with a code that none can send": "closed with no code, not 1002",
      },
    },
    {
      why: "workerd shows the lines of a repeated header as one line.",
      cases: {
        "IN-16 a whole number on two lines": 'body "',
        "IN-16 a text on two lines": "status 200, not 400",
      },
    },
    {
      why: "workerd resolves the steps up of a path before a Worker sees it.",
      cases: {
        "UR a step up is a segment": 'body "home", not "\\"..\\""',
      },
    },
    {
      why: "workerd takes no target that is not a path, and answers 500 itself.",
      cases: {
        "RT-49 an absolute target is routed by its path": "status 500, not 200",
        "RT-49 its authority is the host": "status 500, not 200",
        "RT an absolute target with no path": "status 500, not 200",
        "RT-39 OPTIONS of everything": "status 500, not 204",
        "HD a target that begins with a backslash is a 400": "status 500, not 400",
        "HD-33 GET of everything is a 400": "status 500, not 400",
        "HD-31 a target with userinfo is a 400": "status 500, not 400",
        "HD-30 an absolute target and no Host is a 400": "status 500, not 400",
      },
    },
    {
      why: "workerd takes no CONNECT, and answers 500 itself.",
      cases: {
        "HD-34 CONNECT of a path is a 400": "status 500, not 400",
        "HD-36 CONNECT of no host is a 400": "status 500, not 400",
        "HD-37 CONNECT of no port is a 400": "status 500, not 400",
        "HD-09 CONNECT of a host": "status 500, not 501",
        "HD-10 CONNECT of an address": "status 500, not 501",
      },
    },
    {
      why: "workerd takes a Host for part of a URL, and answers 500 itself where it makes none.",
      cases: {
        "HD-13 a Host of an address of the future": "status 500, not 200",
        "HD-27 two Hosts is a 400": "status 500, not 400",
        "HD-27 two Hosts that are one is a 400": "status 500, not 400",
        "HD-27 two Hosts of HTTP/1.0 is a 400": "status 500, not 400",
        "HD-28 a Host with a blank is a 400": "status 500, not 400",
        "HD a Host with a path is a 400": "status 500, not 400",
        "HD a Host with userinfo is a 400": "status 500, not 400",
        "HD a Host past ASCII is a 400": "status 500, not 400",
      },
    },
    {
      why: "workerd wants a Host, whatever the version, and answers 400 itself where there is none, or an empty one.",
      cases: {
        "HD a Host that is empty": "status 400, not 200",
        "HD-06 HTTP/1.0 with no Host": "status 400, not 200",
        "CK-06 which is taken for a safe one": "status 400, not 200",
      },
    },
    {
      why: "workerd reads header values as UTF-8.",
      cases: {
        "HD a value of Latin-1": 'body "[\\"caf�\\"]", not "[\\"café\\"]"',
      },
    },
    {
      why: "workerd keeps the connection after a 400 of its own.",
      cases: {
        "HD no Host is a 400": "the connection goes on, with 200 ok",
      },
    },
    {
      why: "The connection goes on: nothing of a Worker's ends it, and HTTP/1.0 and Connection: close do not either.",
      cases: {
        "AN-19 an answer that closes": "the connection goes on, with 200 ok",
        "AN-19 a stream that closes": "the connection goes on, with 200 ok",
        "HD-39 a Host of half an IPv6 address is a 400": "the connection goes on, with 200 ok",
        "HD-40 a Host of nine groups is a 400": "the connection goes on, with 200 ok",
        "WR-06 HTTP/1.0 is closed after its answer": "the connection goes on, with 200 ok",
        "WR-06 HTTP/1.0 that asks for both is closed": "the connection goes on, with 200 ok",
        "WR-10 on HTTP/1.0, Expect is nothing": "the connection goes on, with 200 ok",
        "WR a client that asks for it is closed": "the connection goes on, with 200 ok",
        "WR a client that asks for it in capitals is closed": "the connection goes on, with 200 ok",
        "WR one that asks for it among others": "the connection goes on, with 200 ok",
        "WR a refusal to a client that asks for it": "the connection goes on, with 200 ok",
        "SV-15 bodies held at once are bounded, and what is let go makes room": "the connection goes on, with 200 ok",
        "WR-01 pipelined requests are answered in order, and closed when asked": "the connection goes on, with 200 ok",
        "AN-19 what comes behind an answer that closes is no request": "the connection goes on, with 200 ok",
        "AT-21 Expect, and its body comes unasked: answered once": "the connection goes on, with 200 ok",
      },
    },
    {
      why: "workerd answers HTTP/1.0 as it does HTTP/1.1, in chunks.",
      cases: {
        "AN-25 a stream to HTTP/1.0 ends with its connection": 'transfer-encoding ["chunked"], not []',
      },
    },
    {
      why: "workerd writes names of its own in capitals, and the head in an order of its own.",
      cases: {
        "AN-18 the head has its names in lower case, and in their order":
          "names Content-Length, Date, Content-Type, Vary, x-mine, x-mine, x-request-id, not content-type, x-mine, x-mine",
        "AN-18 cookies stand behind the id":
          "names Content-Length, Date, Content-Type, Set-Cookie, x-request-id, x-seen, not content-type, x-seen, x-reques",
      },
    },
    {
      why: "workerd has phrases of its own.",
      cases: {
        "WR 422 has RFC 9110's phrase": 'phrase "Unprocessable Entity", not "Unprocessable Content"',
        "WR a status of no name has none": 'phrase "Successful", not ""',
      },
    },
    {
      why: "workerd ends the connection only where it sees in time that the body does not come.",
      sometimes: true,
      cases: {
        "WR-07 Expect, where nobody reads it": "the connection goes on, with 501 ERROR: Unrecognized request method.",
        "WR-07 Expect, where there is no route": "the connection goes on, with 501 ERROR: Unrecognized request method.",
        "WR-07 Expect, where the type is refused":
          "the connection goes on, with 501 ERROR: Unrecognized request method.",
      },
    },
    {
      why: "workerd says no 100 Continue.",
      cases: {
        "WR-07 Expect, where the body is read": "nothing came any more",
        "WR-07 Expect, where a stream reads it": "nothing came any more",
      },
    },
    {
      why: "workerd ends a stream that fails as if it were whole.",
      cases: {
        "AN a stream that raises is no whole answer": "a whole answer came",
        "JL-77 a value that is none of its shape cuts the lines, and ends what makes them": "a whole answer came",
        ...Object.fromEntries(Object.keys(cutStreams).map((name) => [cutName(name), "a whole answer came"])),
      },
    },
    {
      why: "What a handler leaves running ends with its answer: workerd runs nothing for a request that is over.",
      cases: {
        "WR clientGone says nothing once the answer was taken": "nothing came any more",
      },
    },
    {
      why: "workerd tells nobody of a client that ended its side.",
      cases: { "WR a client that ends its side while its handler waits is answered": "nothing came any more" },
    },
    {
      why: "workerd reads no chunk extension: the body breaks off there.",
      cases: {
        "BD-06 a chunk with an extension is read": "status 400, not 200",
        "BD-06 an extension with a quoted value is read": "status 400, not 200",
      },
    },
    {
      why: "workerd reads no trailer: it is taken for what follows the body, and refused.",
      cases: {
        "BD-07, WR-12 a trailer, which is no header is read": "status 501, not 200",
      },
    },
    {
      why: "workerd looks at no byte behind the last chunk, nor at how its lines end.",
      cases: {
        "BD-30 a bare LF after the last chunk is unreadable": "status 200, not 400",
        "BD-31 a bare LF after a chunk is unreadable": "status 200, not 400",
        "BD-31 a bare LF after a chunk's size is unreadable": "status 200, not 400",
        "BD-33 a trailer with no colon is unreadable": "status 200, not 400",
        "BD-33 a trailer with a control character is unreadable": "status 200, not 400",
        "BD-34 a folded trailer is unreadable": "status 200, not 400",
      },
    },
    {
      why: "workerd's own parser refuses a framing with 500.",
      cases: {
        "BD-03 a list of one length, twice is read": "status 500, not 200",
        "BD-04 a list with nothing between is read": "status 500, not 200",
        "BD-12 two lengths is refused": "status 500, not 400",
        "BD-13 a list of two lengths is refused": "status 500, not 400",
        "BD-16 gzip and no chunks is refused": "status 500, not 400",
        "BD-16 chunks that are not the last coding is refused": "status 500, not 400",
        "BD-21 a length in hexadecimal is refused": "status 500, not 400",
        "BD-22 a length with a blank in it is refused": "status 500, not 400",
        "BD a length below 0 is refused": "status 500, not 400",
        "BD a length with a plus is refused": "status 500, not 400",
        "AT-03 a coding with a tab behind it, and a length is refused": "status 500, not 400",
        "AT-06 a coding like chunked, and a length is refused": "status 500, not 400",
        "AT-07 identity behind chunked, and a length is refused": "status 500, not 400",
        "AT-09 a coding with a vertical tab, and a length is refused": "status 500, not 400",
        "AT-16 chunked and another coding in two fields is refused": "status 500, not 400",
        "AT-18 gzip under chunks is refused": "status 500, not 501",
        "AT-18 identity, then chunks, is refused": "status 500, not 501",
      },
    },
    {
      why: "workerd drops the connection for it, with no answer.",
      cases: {
        "BD a length past any integer is refused": "nothing came any more",
      },
    },
    {
      why: "workerd takes one of two framings that a request claims, or a framing that is none.",
      cases: {
        "BD-15, AT-01 a length beside chunks is refused": "status 200, not 400",
        "BD-15, AT-15 chunks beside a length is refused": "status 200, not 400",
        "BD-18 chunked twice is refused": "status 200, not 400",
        "BD-19, AT-19 chunked in two fields is refused": "status 200, not 400",
        "BD an empty length is refused": "status 200, not 400",
        "AT-04 a coding in capitals, and a length is refused": "status 200, not 400",
        "AT-10 a coding with a blank before its colon, and a length is refused": "status 200, not 400",
        "AT-12 a coding folded onto the line before, and a length is refused": "status 200, not 400",
        "AT-13 a coding behind a bare LF, and a length is refused": "status 200, not 400",
      },
    },
    {
      why: "workerd's own parser answers a method that it does not know with 501 itself.",
      cases: {
        "RT-36 a method of one's own making":
          'body "ERROR: Unrecognized request method.", not "{\\"error\\":\\"not_implemented\\",\\"message\\":\\"That is not some',
        "RT-36 a method in lower case is another one":
          'body "ERROR: Unrecognized request method.", not "{\\"error\\":\\"not_implemented\\",\\"message\\":\\"That is not some',
      },
    },
    {
      why: "workerd's own parser refuses what begins with no method that it knows with 501.",
      cases: {
        "HD-22 a method that is no token is a 400": "status 501, not 400",
        "HD the first bytes of TLS is a 400": "status 501, not 400",
        "HD the preface of HTTP/2 is a 400": "status 501, not 400",
        "HD words is a 400": "status 501, not 400",
        "HD-01 empty lines before a request": "status 501, not 200",
        "HD behind a good request, a bad one ends the connection": "status 501, not 400",
        "WR-15 a refusal reaches a client that still sends": "status 501, not 400",
      },
    },
    {
      why: "workerd bounds a head at more than is asked here.",
      cases: {
        "HD-43 a field past the limit of a head: 431": "status 200, not 431",
        "HD-43 many fields past it: 431": "status 200, not 431",
        "SV-07 a request line past it: 414": "status 404, not 414",
        "SV-07 a request line past it, in pieces": "status 404, not 414",
        "SV-07 a field past it, in pieces": "status 200, not 431",
      },
    },
    {
      why: "workerd's own parser passes over what is wrong with a head.",
      cases: {
        "HD half a version is a 400": "status 200, not 400",
        "HD-25 a version in lower case is a 400": "status 200, not 400",
        "HD-24 two blanks in it is a 400": "status 200, not 400",
        "HD a blank in the target is a 400": "status 404, not 400",
        "HD a tab in the target is a 400": "status 404, not 400",
        "HD a target with a byte past ASCII is a 400": "status 404, not 400",
        "HD-16 a blank before the colon is a 400": "status 200, not 400",
        "HD a folded field is a 400": "status 200, not 400",
        "HD a first field that is folded is a 400": "status 200, not 400",
        "HD-20 a control character in a value is a 400": "status 200, not 400",
        "HD-21 DEL in a value is a 400": "status 200, not 400",
        "HD-42 HTTP/2.0 is another version: 505": "status 200, not 505",
      },
    },
  ],
  lacks: {
    upgrade: "What a connection may become is the platform's own, too.",
    connection: "A connection is the platform's own: workerd writes no such header, and takes none from a Worker.",
  },
};
