import { http2Conforms } from "./conformance.ts";
import { http2OnDeno } from "./targets/deno.ts";
import { withHttp2 } from "./targets/node.ts";

// The Node that runs the tests is the oldest supported version.
http2Conforms();
for (const target of withHttp2) http2Conforms(target);
http2Conforms(http2OnDeno, "http2-on-deno");
