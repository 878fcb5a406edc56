import { bodiless } from "../cases/answers.ts";
import type { Deviations } from "./deviation.ts";

/** Differences in HTTP/2 on Node. */
export const http2: Deviations = {
  cases: [
    {
      why: "RFC 9113 §8.2.1 forbids blanks around a value: nghttp2 drops the field.",
      cases: { "IN-18 blanks around a value are no part of it": 'body "[\\"-\\"]"' },
    },
    {
      why: "An authority is not empty (RFC 9113 §8.3.1): nghttp2 resets the stream.",
      cases: { "HD a Host that is empty": "NGHTTP2_PROTOCOL_ERROR" },
    },
  ],
};

/** Differences in HTTP/2 on Deno. */
export const http2OnDeno: Deviations = {
  cases: [
    {
      why: "An authority is not empty (RFC 9113 §8.3.1): hyper resets the stream.",
      cases: { "HD a Host that is empty": "NGHTTP2_PROTOCOL_ERROR" },
    },
    {
      why: "A Request of Deno.serve shows the lines of a repeated header as one line.",
      cases: {
        "IN-16 a whole number on two lines": 'body "',
        "IN-16 a text on two lines": "status 200, not 400",
      },
    },
    {
      why: "Deno.serve does not show the version, and in HTTP/1.1 it frames no 205.",
      cases: {
        "AN an empty 205 has a length of 0": "status 204, not 205",
        ...Object.fromEntries(
          bodiless.filter(({ name }) => name.startsWith("AN a 205")).map(({ name }) => [name, "status 204, not 205"]),
        ),
      },
    },
  ],
  writes: {
    date: "Deno.serve dates every answer, a 5xx among them.",
  },
};
