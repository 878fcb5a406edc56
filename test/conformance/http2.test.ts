import { http2Conforms } from "./conformance.ts";
import { nodeNewestHttp2 } from "./targets/node.ts";

// The Node that runs the tests is the oldest that is served.
http2Conforms();
http2Conforms(nodeNewestHttp2);
