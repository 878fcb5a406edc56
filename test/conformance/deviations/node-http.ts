import type { Deviation, Deviations } from "./deviation.ts";

/** What the parser of `node:http` does, which is Node's and Deno's. */
const parser: readonly Deviation[] = [
  {
    why: "The parser of node:http takes no list of lengths, be they equal.",
    cases: {
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
    why: "The parser of node:http knows the methods it knows, and refuses any other with 400.",
    cases: {
      "RT-36 a method of one's own making": "status 400, not 501",
      "RT-36 a method in lower case is another one": "status 400, not 501",
    },
  },
];
const writes = { "keep-alive": "node:http tells a client of HTTP/1.0 how long it keeps the connection." };

export const node: Deviations = { cases: parser, writes };
export const nodeOnDeno: Deviations = { cases: parser, writes };

export const nodeOnBun: Deviations = {
  cases: [
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
      why: "The parser of node:http on Bun knows the methods it knows, and refuses any other with 400.",
      cases: {
        "RT-36 a method of one's own making": "status 400, not 501",
        "RT-36 a method in lower case is another one": "status 400, not 501",
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
        "SV-07 a request line past it, in pieces": "status 431, not 414",
        "SV-07 a target past it": "status 431, not 414",
      },
    },
  ],
};
