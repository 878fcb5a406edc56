import { conforms } from "./conformance.ts";
import { nodeOnDeno } from "./targets/deno.ts";

conforms(nodeOnDeno);
