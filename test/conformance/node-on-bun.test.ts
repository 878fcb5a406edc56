import { conforms } from "./conformance.ts";
import { nodeOnBun } from "./targets/bun.ts";

conforms(nodeOnBun);
