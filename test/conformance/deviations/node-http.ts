import type { Deviation, Deviations } from "./deviation.ts";

/**
 * The parser of `node:http`, on Node and on Deno. It reads the bytes in C++ and fails before
 * there is a request; of the bytes at which it failed, JavaScript gets only the last packet, so that it cannot parse again a
 * head or a chunk that arrived in two. Its one option, `insecureHTTPParser`, accepts smuggled requests too. To read each packet in
 * JavaScript (`socket.on("data")`) costs a request 1.7 to 2.6 µs, of 14 to 15: 12 to 17 %. RFC 9112 §2.2 and RFC 9110 §8.6
 * leave it to a server whether it takes a bare LF, or one length twice.
 */
const parser: readonly Deviation[] = [
  {
    why: "The parser of node:http wants a CR before each LF of a head.",
    cases: { "HD-02 lines that end in LF alone": "status 400, not 200" },
  },
  {
    why: "The parser of node:http takes no blanks around a chunk's extension.",
    cases: { "BD an extension with blanks around is read": "status 400, not 200" },
  },
  {
    why: "The parser of node:http takes no list of lengths, be they equal.",
    cases: {
      "BD-02 one length on two lines is read": "status 400, not 200",
      "BD-03 a list of one length, twice is read": "status 400, not 200",
      "BD-04 a list with nothing between is read": "status 400, not 200",
    },
  },
  {
    why: "The parser of node:http knows the versions 1.0 and 1.1, and refuses any other 1.x.",
    cases: { "HD-03 HTTP/1.2 is 1.1": "status 400, not 200" },
  },
  {
    why: "The parser of node:http passes over blanks between the method and the target, and says nothing of them.",
    cases: { "HD-24 two blanks in it is a 400": "status 200, not 400" },
  },
  {
    why: "The parser of node:http refuses a method that it does not know before there is a request: the 501 has no body.",
    cases: {
      "RT-36 a method of one's own making": 'body "", not "{\\"error',
      "RT-36 a method in lower case is another one": 'body "", not "{\\"error',
    },
  },
];
const writes = { "keep-alive": "node:http tells a client of HTTP/1.0 how long it keeps the connection." };

/** Node 22 and later, and Deno, drop the bytes that they have read after such a request. */
const lastUpgrade: Deviation = {
  why: "node:http drops what is pipelined behind an ignored upgrade with a body, so its response is the last of the connection.",
  cases: {
    "WR beside sockets, an upgrade to HTTP/2 has its body read, and its connection goes on":
      'step 2, answer: connection ["close"], not []',
  },
};

export const oldestNode: Deviations = { cases: parser, writes };
export const newestNode: Deviations = { cases: [...parser, lastUpgrade], writes };
export const nodeOnDeno: Deviations = { cases: [...parser, lastUpgrade], writes };

export const nodeOnBun: Deviations = {
  cases: [
    {
      why: "Bun's own `ws` has no settings of compression.",
      cases: {
        "WD-20 compression is agreed on where a socket asks for it, and a message is inflated":
          "sec-websocket-extensions [], not [",
      },
    },
    {
      why: "Bun's own `ws` tells of a close once its client has ended the connection too, or was lost.",
      cases: { "WS a close is told though its client keeps the connection": "nothing came any more" },
    },
    {
      why: "Bun tells of a reset as of an end.",
      cases: {
        "AN a client that goes is told to who speaks with it, and is no bug": 'is "whole", not "broken"',
      },
    },
    {
      why: "node:http on Bun answers OPTIONS * with 400 itself.",
      cases: { "RT-39 OPTIONS of everything": "status 400, not 204" },
    },
    {
      why: "The parser of node:http on Bun wants a CR before each LF of a head, and no blanks around a chunk's extension.",
      cases: {
        "HD-02 lines that end in LF alone": "status 400, not 200",
        "BD an extension with blanks around is read": "status 400, not 200",
      },
    },
    {
      why: "The parser of node:http on Bun takes no list of lengths, be they equal.",
      cases: {
        "BD-03 a list of one length, twice is read": "status 400, not 200",
        "BD-04 a list with nothing between is read": "status 400, not 200",
      },
    },
    {
      why: "The parser of node:http on Bun knows the versions 1.0 and 1.1, and refuses any other 1.x.",
      cases: { "HD-03 HTTP/1.2 is 1.1": "status 400, not 200" },
    },
    {
      why: "The parser of node:http on Bun refuses a method that it does not know before there is a request: the 501 has no body.",
      cases: {
        "RT-36 a method of one's own making": 'body "", not "{\\"error',
        "RT-36 a method in lower case is another one": 'body "", not "{\\"error',
      },
    },
    {
      why: "node:http on Bun keeps no connection of HTTP/1.0.",
      cases: {
        "WR-06 HTTP/1.0 that asks for it is kept, and told so": 'connection ["close"], not ["keep-alive"]',
        "AN-25 a stream with a length to HTTP/1.0 does not": 'connection ["close"], not ["keep-alive"]',
      },
    },
    {
      why: "node:http on Bun has a phrase for every status.",
      cases: { "WR a status of no name has none": 'phrase "HM", not ""' },
    },
    {
      why: "node:http on Bun takes a client that ended its side for gone.",
      cases: {
        "WR a client that ends its side while its handler waits is answered": "the connection ended before a head",
      },
    },
    {
      why: "node:http on Bun does not show what of a head was too long.",
      cases: {
        "SV-07 a request line past it: 414": "status 431, not 414",
        "SV-07 a field past it, in pieces": "status 414, not 431",
        "SV-07 a target past it": "status 431, not 414",
      },
    },
  ],
};
