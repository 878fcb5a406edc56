import { conforms } from "./conformance.ts";
import { whatwg } from "./targets/whatwg.ts";

conforms(whatwg);
