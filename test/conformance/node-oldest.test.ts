import { conforms } from "./conformance.ts";
import { nodeOldest } from "./targets/node.ts";

conforms(nodeOldest);
