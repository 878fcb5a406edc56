import type { Deviations } from "./deviation.ts";

export const bun: Deviations = {
  cases: [
    {
      why: "Bun.serve compresses as it likes and within no bound of ours, so it is told to agree on nothing.",
      cases: {
        "WD-20 compression is agreed on where a socket asks for it, and a message is inflated":
          "sec-websocket-extensions [], not [",
      },
    },
    {
      why: "Bun's parser wants a CR before each LF of a head, and no blanks around a chunk's extension.",
      cases: {
        "HD-02 lines that end in LF alone": "status 505, not 200",
        "BD an extension with blanks around is read": "status 400, not 200",
      },
    },
    {
      why: "Bun does not tell the version of a request, and opens a socket to HTTP/1.0.",
      cases: { "WS-06 a handshake of HTTP/1.0 is a 426": "status 101, not 426" },
    },
    {
      why: "A Request of Bun.serve shows two Hosts as one, and to look at it with every request would cost it 0.7 µs.",
      cases: {
        "HD-27 two Hosts is a 400": "status 200, not 400",
        "HD-27 two Hosts that are one is a 400": "status 200, not 400",
        "HD-27 two Hosts of HTTP/1.0 is a 400": "status 200, not 400",
      },
    },
    {
      why: "Bun.serve takes a client that ended its side for gone.",
      cases: {
        "WR a client that ends its side while its handler waits is answered": "the connection ended before a head",
      },
    },
    {
      why: "Bun.serve drops the connection of a method that it does not know, with no answer.",
      cases: {
        "RT-36 a method of one's own making": "the connection ended before a head",
        "RT-36 a method in lower case is another one": "the connection ended before a head",
      },
    },
    {
      why: "A Request of Bun.serve shows the lines of a repeated header as one line.",
      cases: {
        "IN-16 a whole number on two lines": 'body "',
        "IN-16 a text on two lines": "status 200, not 400",
      },
    },
    {
      why: "Bun.serve makes a URL of the target before anybody sees it: steps up and backslashes are resolved, and an authority is Host's.",
      cases: {
        "RT-49 its authority is the host": 'body "h", not "abs.example"',
        "RT a backslash is no slash": "status 200, not 404",
        "UR a step up is a segment": 'body "home", not "\\"..\\""',
        "UR a step up, encoded, is a segment": 'body "home", not "\\"..\\""',
        "UR a dot, encoded, is a segment": "status 404, not 200",
        "RT-15 nor with a slash and a backslash":
          'body "nothing at //elsewhere.example/hello/kim/", not "nothing at /\\\\elsewhere.example/hello/kim/"',
        "HD-31 a target with userinfo is a 400": "status 200, not 400",
      },
    },
    {
      why: "Bun.serve answers OPTIONS * with 400 itself.",
      cases: {
        "RT-39 OPTIONS of everything": "status 400, not 204",
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
      why: "Bun.serve gives a stream a length where all of it is there at once.",
      cases: {
        "AN-19 a stream that closes": 'transfer-encoding [], not ["chunked"]',
        "AN-24 a stream with no length": 'transfer-encoding [], not ["chunked"]',
        "AN a stream of nothing": 'transfer-encoding [], not ["chunked"]',
        "AN an empty part does not end a stream": 'transfer-encoding [], not ["chunked"]',
        "AN a readable stream": 'transfer-encoding [], not ["chunked"]',
        "EV-01, EV-02 events, in their set form": 'transfer-encoding [], not ["chunked"]',
        "EV-10 none at all": 'transfer-encoding [], not ["chunked"]',
        "EV-16 from the beginning": 'transfer-encoding [], not ["chunked"]',
        "EV-16 behind the last one that was had": 'transfer-encoding [], not ["chunked"]',
        "EV-16 behind an id in UTF-8, as every client sends it": 'transfer-encoding [], not ["chunked"]',
        "JL-70 lines are sent": 'transfer-encoding [], not ["chunked"]',
        "JL-71 no lines are an empty body": 'transfer-encoding [], not ["chunked"]',
        "AN-25 a stream to HTTP/1.0 ends with its connection": 'content-length ["13"], not []',
      },
    },
    {
      why: "Bun.serve sends a stream in chunks where not all of it is there at once, and tells no length.",
      cases: { "SV-19 one with a length, likewise": 'content-length [], not ["250"]' },
    },
    {
      why: "Bun.serve keeps no connection of HTTP/1.0.",
      cases: {
        "WR-06 HTTP/1.0 that asks for it is kept, and told so": "the connection ended before a head",
        "AN-25 a stream with a length to HTTP/1.0 does not": "the connection ended before a head",
      },
    },
    {
      why: "Bun.serve writes names of its own in capitals, and the head in an order of its own.",
      cases: {
        "AN-18 cookies stand behind the id":
          "names set-cookie, Content-Type, x-seen, x-request-id, Date, Content-Length, not content-type, x-seen, x-reques",
      },
    },
    {
      why: "Bun.serve has phrases of its own.",
      cases: {
        "WR 422 has RFC 9110's phrase": 'phrase "Unprocessable Entity", not "Unprocessable Content"',
        "WR a status of no name has none": 'phrase "HM", not ""',
      },
    },
    {
      why: "Bun.serve says 100 Continue by itself, at once.",
      cases: {
        "WR-10 on HTTP/1.0, Expect is nothing": "status 100, not 200",
        "WR-09 Expect with no body": "status 100, not 200",
        "WR-07 Expect, where the body is too long": "status 100, not 413",
        "WR-07 Expect, where nobody reads it": "status 100, not 200",
        "WR-07 Expect, where there is no route": "status 100, not 404",
        "WR-07 Expect, where the type is refused": "status 100, not 415",
        "AT-21 Expect, and its body comes unasked: answered once": "status 100, not 200",
      },
    },
    {
      why: "Bun.serve keeps the end of a head until there is a part behind it.",
      cases: {
        "AN-24 the head goes out before the first part": "nothing came any more",
      },
    },
    {
      why: "Bun.serve drops every answer of a connection on which a request comes while another waits, and closes it.",
      cases: {
        "WR-01 pipelined requests are answered in order, and closed when asked": "the connection ended before a head",
        "WR-01 a pipelined refusal is in its place": "the connection ended before a head",
        "WR-01 what is pipelined behind a stream waits for its end": "the connection ended before a chunk",
      },
    },
    {
      why: "Bun.serve resets the connection of a stream that fails, with what it was given of it.",
      cases: {
        "AN-22 a stream short of its length ends its connection": 'the connection ended before "\\r\\n\\r\\nhi"',
        "AN a stream that raises is no whole answer": 'the connection ended before "half"',
      },
    },
    {
      why: "Bun.serve's parser answers what is no HTTP itself, at once, and before a request that waits.",
      cases: {
        "WR what is no request, behind one that waits, overtakes no answer":
          'the connection ended before "HTTP/1.1 200 "',
      },
    },
    {
      why: "Bun.serve's parser answers 400 itself where a body is broken.",
      cases: {
        "BD-24 a chunk size past any integer is unreadable": 'body "", not',
        "BD-25 a chunk size that is not hexadecimal is unreadable": 'body "", not',
        "BD-25 a chunk size below 0 is unreadable": 'body "", not',
        "BD-25 no chunk size is unreadable": 'body "", not',
        "BD-25 a chunk longer than its size is unreadable": 'body "", not',
        "BD-31 a bare LF after a chunk is unreadable": 'body "", not',
        "BD-31 a bare LF after a chunk's size is unreadable": 'body "", not',
      },
    },
    {
      why: "Bun.serve says nothing to a client that ended its side within a body.",
      cases: {
        "BD-27 a length cut short is unreadable": "the connection ended before a head",
        "BD-28 chunks cut short is unreadable": "the connection ended before a head",
        "BD-28 a chunk cut short is unreadable": "the connection ended before a head",
      },
    },
    {
      why: "Bun.serve's parser looks at no byte behind the last chunk.",
      cases: {
        "BD-30 a bare LF after the last chunk is unreadable": "status 200, not 400",
        "BD-33 a trailer with no colon is unreadable": "status 200, not 400",
        "BD-33 a trailer with a control character is unreadable": "status 200, not 400",
        "BD-34 a folded trailer is unreadable": "status 200, not 400",
      },
    },
    {
      why: "Bun.serve's parser takes a trailer for what follows the body, and refuses that.",
      cases: {
        "BD-07, WR-12 a trailer, which is no header is read": "status 400, not 200",
      },
    },
    {
      why: "Bun.serve's parser takes no list of lengths, be they equal.",
      cases: {
        "BD-03 a list of one length, twice is read": "status 400, not 200",
        "BD-04 a list with nothing between is read": "status 400, not 200",
      },
    },
    {
      why: "Bun.serve's parser refuses with 400 what is no framing of its own.",
      cases: {
        "AT-18 gzip under chunks is refused": "status 400, not 501",
        "AT-18 identity, then chunks, is refused": "status 400, not 501",
      },
    },
    {
      why: "Bun.serve's parser takes a line of other than three words for another version, and knows 1.0 and 1.1.",
      cases: {
        "HD-15 a bare CR in the request line is a 400": "status 505, not 400",
        "HD no version is a 400": "status 505, not 400",
        "HD half a version is a 400": "status 505, not 400",
        "HD-25 a version in lower case is a 400": "status 505, not 400",
        "HD a blank in the target is a 400": "status 505, not 400",
        "HD a tab in the target is a 400": "status 505, not 400",
        "HD-03 HTTP/1.2 is 1.1": "status 505, not 200",
      },
    },
    {
      why: "Bun.serve's parser passes over a byte past ASCII in a target, and over DEL in a value.",
      cases: {
        "HD a target with a byte past ASCII is a 400": "status 404, not 400",
        "HD-21 DEL in a value is a 400": "status 200, not 400",
      },
    },
    {
      why: "Bun.serve's parser takes no empty line before a request.",
      cases: {
        "HD-01 empty lines before a request": "status 400, not 200",
      },
    },
    {
      why: "Bun.serve says 431 of a long line, too.",
      cases: {
        "SV-07 a request line past it: 414": "status 431, not 414",
        "SV-07 a request line past it, in pieces": "status 431, not 414",
      },
    },
    {
      why: "Bun gives a first head ten seconds, whatever it is told, and says nothing when they are over.",
      cases: {
        "SV-07 the first word of a head that does not come": "nothing came any more",
        "SV-07 half a head that does not come": "nothing came any more",
        "SV-07 half a second head that does not come": "the connection ended before a head",
      },
    },
  ],
  writes: {
    date: "Bun.serve dates every answer, a 5xx among them.",
  },
  lacks: {
    connection: "Bun.serve closes a connection that was to be closed, and does not say so.",
  },
};
