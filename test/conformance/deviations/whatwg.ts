import type { Deviations } from "./deviation.ts";

export const whatwg: Deviations = {
  cases: [
    {
      why: "The parser of node:http wants a CR before each LF of a head, one length, and no blanks around a chunk's extension.",
      cases: {
        "HD-02 lines that end in LF alone": "status 400, not 200",
        "BD-02 one length on two lines is read": "status 400, not 200",
        "BD an extension with blanks around is read": "status 400, not 200",
      },
    },
    {
      why: "A server of node:http that is not told otherwise takes a client that ended its side for gone.",
      cases: {
        "WR a client that ends its side while its handler waits is answered": "the connection ended before a head",
      },
    },
    {
      why: "The parser of node:http knows the methods it knows, and refuses any other with 400.",
      cases: {
        "RT-36 a method of one's own making": "status 400, not 501",
        "RT-36 a method in lower case is another one": "status 400, not 501",
      },
    },
    {
      why: "The parser of node:http takes no list of lengths, be they equal.",
      cases: {
        "BD-03 a list of one length, twice is read": "status 400, not 200",
        "BD-04 a list with nothing between is read": "status 400, not 200",
      },
    },
    {
      why: "The parser of node:http knows the versions 1.0 and 1.1, and refuses any other 1.x.",
      cases: {
        "HD-03 HTTP/1.2 is 1.1": "status 400, not 200",
      },
    },
    {
      why: "The parser of node:http passes over what is wrong with the version, or between the words of a line.",
      cases: {
        "HD no version is a 400": "status 200, not 400",
        "HD-24 two blanks in it is a 400": "status 200, not 400",
        "HD-42 HTTP/2.0 is another version: 505": "status 200, not 505",
      },
    },
    {
      why: "A server of node:http that is not told otherwise does not look at the form of a target.",
      cases: {
        "HD-33 GET of everything is a 400": "status 404, not 400",
        "HD-31 a target with userinfo is a 400": "status 200, not 400",
      },
    },
    {
      why: "A server of node:http that is not told otherwise drops a CONNECT.",
      cases: {
        "HD-34 CONNECT of a path is a 400": "the connection ended before a head",
        "HD-36 CONNECT of no host is a 400": "the connection ended before a head",
        "HD-37 CONNECT of no port is a 400": "the connection ended before a head",
        "HD-09 CONNECT of a host": "the connection ended before a head",
        "HD-10 CONNECT of an address": "the connection ended before a head",
      },
    },
    {
      why: "A server of node:http that is not told otherwise takes a coding under chunks for none.",
      cases: {
        "AT-18 gzip under chunks is refused": "status 200, not 501",
        "AT-18 identity, then chunks, is refused": "status 200, not 501",
      },
    },
    {
      why: "A server of node:http that is not told otherwise says 431 of a long line.",
      cases: {
        "SV-07 a request line past it: 414": "status 431, not 414",
        "SV-07 a request line past it, in pieces": "status 431, not 414",
      },
    },
    {
      why: "A server of node:http that is not told otherwise says 100 Continue by itself.",
      cases: {
        "WR-09 Expect with no body": "status 100, not 200",
        "WR-07 Expect, where the body is too long": "status 100, not 413",
        "WR-07 an expectation with a no-break space before it is another": "status 100, not 200",
        "WR-07 Expect, where nobody reads it": "status 100, not 200",
        "WR-07 Expect, where there is no route": "status 100, not 404",
        "WR-07 Expect, where the type is refused": "status 100, not 415",
        "AT-21 Expect, and its body comes unasked: answered once": "status 100, not 200",
      },
    },
    {
      why: "A server of node:http that is not told otherwise answers what is no HTTP at once, and before a request that waits.",
      cases: {
        "WR what is no request, behind one that waits, overtakes no answer":
          'the connection ended before "HTTP/1.1 200 "',
      },
    },
    {
      why: "A server of node:http that is not told otherwise answers 400 itself where a body breaks off.",
      cases: {
        "BD-24 a chunk size past any integer is unreadable": 'body "", not',
        "BD-25 a chunk size that is not hexadecimal is unreadable": 'body "", not',
        "BD-25 a chunk size below 0 is unreadable": 'body "", not',
        "BD-25 no chunk size is unreadable": 'body "", not',
        "BD-25 a chunk longer than its size is unreadable": 'body "", not',
        "BD-30 a bare LF after the last chunk is unreadable": 'body "", not',
        "BD-31 a bare LF after a chunk is unreadable": 'body "", not',
        "BD-31 a bare LF after a chunk's size is unreadable": 'body "", not',
        "BD-33 a trailer with no colon is unreadable": 'body "", not',
        "BD-33 a trailer with a control character is unreadable": 'body "", not',
        "BD-34 a folded trailer is unreadable": 'body "", not',
        "BD-27 a length cut short is unreadable": 'body "", not',
        "BD-28 chunks cut short is unreadable": 'body "", not',
        "BD-28 a chunk cut short is unreadable": 'body "", not',
      },
    },
    {
      why: "node:http keeps a connection of HTTP/1.0 that asks to be kept and to be closed.",
      cases: {
        "WR-06 HTTP/1.0 that asks for both is closed": 'connection ["keep-alive"], not ["close"]',
      },
    },
    {
      why: "A Response has one line for a header's name.",
      cases: {
        "AN a header of several lines keeps them": 'x-mine ["1, 2, 3"], not ["1","2, 3"]',
        "AN-18 the head has its names in lower case, and in their order": 'x-mine ["1, 2, 3"], not ["1","2, 3"]',
      },
    },
    {
      why: "@whatwg-node/server writes the head in an order of its own.",
      cases: {
        "AN-18 cookies stand behind the id":
          "names content-length, content-type, date, x-request-id, x-seen, set-cookie, Connection, Keep-Alive, not conten",
      },
    },
    {
      why: "@whatwg-node/server writes no phrase.",
      cases: {
        "WR a status has RFC 9110's phrase": 'phrase "", not "OK"',
        "WR 422 has RFC 9110's phrase": 'phrase "", not "Unprocessable Content"',
      },
    },
    {
      why: "@whatwg-node/server drops what it was given of a stream before it failed, or before it fell short.",
      cases: {
        "AN-22 a stream short of its length ends its connection": 'the connection ended before "\\r\\n\\r\\nhi"',
        "AN a stream that raises is no whole answer": 'the connection ended before "half"',
      },
    },
  ],
  writes: {
    connection: "node:http says of every connection that it is kept, unless its server is told otherwise.",
    "keep-alive": "node:http says how long it keeps a connection.",
    date: "node:http dates every answer, a 5xx among them.",
  },
};
