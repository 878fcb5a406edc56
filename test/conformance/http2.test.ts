import { http2Conforms } from "./conformance.ts";

http2Conforms();
