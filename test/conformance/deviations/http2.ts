import type { Deviations } from "./deviation.ts";

/** What goes another way in HTTP/2 on Node. */
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
