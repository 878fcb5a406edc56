import { conforms } from "./conformance.ts";
import { bun } from "./targets/bun.ts";

conforms(bun);
