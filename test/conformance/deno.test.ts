import { conforms } from "./conformance.ts";
import { deno } from "./targets/deno.ts";

conforms(deno);
